/// The tenant's rules are these from here on; recorded in full.
package struct RulesSet: EventFact {
    /// The maximum length of the providers' texts, in bytes, so that the fact fits into an entry.
    package static let providersBytesMax = 48_000

    /// The version of the rules: 1, 2, 3 and so on.
    package let rulesVersion: Int64
    package let policy: TenantPolicy
    /// Providers that the rules no longer have and that have identities: their names stay pinned.
    package let formerProviders: [ProviderName: ProviderPin]

    /// States the rules; nil if they are too long for an entry, or a number is out of range.
    package init?(
        version: Int64, policy: TenantPolicy, formerProviders: [ProviderName: ProviderPin] = [:]
    ) {
        let providers =
            policy.providers.entryText + formerProviders.entryText
            + policy.secondFactorMethods.entryText + policy.counterRollbackProviders.entryText
        guard providers.utf8.count <= Self.providersBytesMax,
            Self.numbers(of: policy).allSatisfy({ (0...LogPosition.endMax).contains($0) }),
            TenantPolicy.supportDelayHoursRange.contains(policy.supportDelayHours)
        else { return nil }
        rulesVersion = version
        self.policy = policy
        self.formerProviders = formerProviders
    }

    /// The types and issuers of the providers, former ones included.
    var pins: [ProviderName: ProviderPin] { formerProviders.merging(policy.providers) { $1 } }

    /// Returns the providers, former ones included, to which a policy gives another type or other issuers.
    package func providersPinnedOtherwise(in policy: TenantPolicy) -> Set<ProviderName> {
        Set(pins.filter { policy.providers[$0.key, default: $0.value] != $0.value }.keys)
    }

    private static func numbers(of policy: TenantPolicy) -> [Int64] {
        [
            Int64(policy.linkBudget.limit), policy.linkBudget.windowSeconds,
            Int64(policy.signInBudget.limit), policy.signInBudget.windowSeconds,
            policy.reauthenticationSeconds, policy.refreshGraceSeconds, policy.sessionIdleSeconds,
            policy.sessionLifetimeSeconds, policy.phoneUnusedDays,
        ]
    }

    package static let newestVersion = 6
    package var version: Int {
        if !policy.secondFactorMethods.isEmpty || !policy.counterRollbackProviders.isEmpty {
            return 6
        }
        if policy.supportNeedsTwo
            || policy.supportDelayHours != TenantPolicy.supportDelayHoursDefault
        {
            return 5
        }
        if policy.phoneUnusedDays != TenantPolicy.phoneUnusedDaysDefault { return 4 }
        return policy.confirmLater ? 3 : policy.eraseNeedsTwo ? 2 : 1
    }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [] }

    package var details: EntryDetails {
        let rollbackProviders = policy.counterRollbackProviders.entryText
        let methods = policy.secondFactorMethods.entryText
        return EntryDetails([
            ("confirm_later", policy.confirmLater ? "true" : nil),
            ("counter_rollback_providers", rollbackProviders.isEmpty ? nil : rollbackProviders),
            ("erase_needs_two", policy.eraseNeedsTwo ? "true" : nil),
            ("former_providers", formerProviders.entryText),
            ("link_limit", String(policy.linkBudget.limit)),
            ("link_window_seconds", String(policy.linkBudget.windowSeconds)),
            (
                "phone_unused_days",
                policy.phoneUnusedDays == TenantPolicy.phoneUnusedDaysDefault
                    ? nil : String(policy.phoneUnusedDays)
            ),
            ("providers", policy.providers.entryText),
            ("reauthentication_seconds", String(policy.reauthenticationSeconds)),
            ("refresh_grace_seconds", String(policy.refreshGraceSeconds)),
            ("rules_version", String(rulesVersion)),
            ("second_factor_amr", methods.isEmpty ? nil : methods),
            ("session_idle_seconds", String(policy.sessionIdleSeconds)),
            ("session_lifetime_seconds", String(policy.sessionLifetimeSeconds)),
            ("several_per_provider", String(policy.severalPerProvider)),
            ("sign_in_limit", String(policy.signInBudget.limit)),
            ("sign_in_window_seconds", String(policy.signInBudget.windowSeconds)),
            ("single_use_id_tokens", String(policy.singleUseIDTokens)),
            (
                "support_delay_hours",
                policy.supportDelayHours == TenantPolicy.supportDelayHoursDefault
                    ? nil : String(policy.supportDelayHours)
            ), ("support_needs_two", policy.supportNeedsTwo ? "true" : nil),
        ])
    }

    package var verb: String { "changed its rules" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        // The stored rules have no version beside them: the members themselves tell.
        let confirmLater = try reader.optionalTrue("confirm_later")
        let counterRollbackProviders = try reader.optionalProviders("counter_rollback_providers")
        let eraseNeedsTwo = try reader.optionalTrue("erase_needs_two")
        formerProviders = try reader.pins("former_providers")
        let linkLimit = Int(try reader.integer("link_limit"))
        let linkWindow = try reader.integer("link_window_seconds")
        let phoneUnusedDays = try reader.optionalInteger("phone_unused_days")
        guard phoneUnusedDays != TenantPolicy.phoneUnusedDaysDefault else {
            throw .malformed("details.phone_unused_days")
        }
        var policy = TenantPolicy(providers: try reader.pins("providers"))
        policy.phoneUnusedDays = phoneUnusedDays ?? policy.phoneUnusedDays
        policy.linkBudget = Budget(limit: linkLimit, windowSeconds: linkWindow)
        policy.reauthenticationSeconds = try reader.integer("reauthentication_seconds")
        policy.refreshGraceSeconds = try reader.integer("refresh_grace_seconds")
        rulesVersion = try reader.integer("rules_version")
        policy.secondFactorMethods = try reader.optionalProviderMethods("second_factor_amr")
        policy.sessionIdleSeconds = try reader.integer("session_idle_seconds")
        policy.sessionLifetimeSeconds = try reader.integer("session_lifetime_seconds")
        policy.severalPerProvider = try reader.flag("several_per_provider")
        let signInLimit = Int(try reader.integer("sign_in_limit"))
        policy.signInBudget = Budget(
            limit: signInLimit, windowSeconds: try reader.integer("sign_in_window_seconds"))
        policy.singleUseIDTokens = try reader.flag("single_use_id_tokens")
        if let hours = try reader.optionalInteger("support_delay_hours") {
            guard hours != TenantPolicy.supportDelayHoursDefault,
                TenantPolicy.supportDelayHoursRange.contains(hours)
            else { throw .malformed("details.support_delay_hours") }
            policy.supportDelayHours = hours
        }
        policy.supportNeedsTwo = try reader.optionalTrue("support_needs_two")
        policy.eraseNeedsTwo = eraseNeedsTwo
        policy.confirmLater = confirmLater
        policy.counterRollbackProviders = counterRollbackProviders
        self.policy = policy
        try reader.end()
    }
}

extension RulesSet {
    /// The rules as they are stored beside the log: the bytes of the entry's `details`.
    package var body: String { String(decoding: EntryEncoding.encode(details), as: UTF8.self) }

    /// Reads the stored rules.
    ///
    /// - Throws: `EntryFault.malformed` for anything but the bytes of the entry's `details`.
    package init(body: String) throws(EntryFault) {
        try self.init(details: ScannedDetails(object: Array(body.utf8)), accounts: [])
    }
}

extension RulesSet {
    /// Whether the identities of a provider have passwords or keys.
    package func hasCredentials(_ provider: ProviderName) -> Bool {
        switch (policy.providers[provider] ?? formerProviders[provider])?.type {
        case .password, .passkey: true
        case .oidc, .oauth2, .anonymous, .email, .phone, nil: false
        }
    }
}
