import Ledger
import LedgerTestSupport
import Testing

/// Rules as commands record them, and as decisions use them.
@Suite struct RulesTests {
    private static let google = provider("google")
    private static let apple = provider("apple")
    private static let pins = [
        apple: ProviderPin(type: .oidc, issuers: ["https://appleid.apple.com"]),
        google: ProviderPin(type: .oidc, issuers: ["https://accounts.google.com"]),
    ]

    /// An opened ledger with rules, whose configuration has no providers.
    private static func ledger() throws -> ModelLedger {
        var ledger = ModelLedger(policy: TenantPolicy(providers: [:]))
        _ = try ledger.execute(SequencerFixture.opening(of: .default))
        _ = try set(TenantPolicy(providers: pins), in: &ledger).get()
        return ledger
    }

    private static func set(
        _ policy: TenantPolicy, _ condition: SetRules.Condition = .withoutLockOuts,
        accepting accepted: Set<ProviderName> = [], in ledger: inout ModelLedger
    ) throws -> Result<RulesSet, Refusal> {
        let request = SetRules(policy, condition: condition, acceptedIssuers: accepted)
        return try ledger.execute(.setRules(request)).map { reply in
            guard case .rulesRecorded(let rules, _, _) = reply else {
                preconditionFailure("another reply: \(reply)")
            }
            return rules
        }
    }

    private static func policy(without provider: ProviderName) -> TenantPolicy {
        TenantPolicy(providers: pins.filter { $0.key != provider })
    }

    @Test func `rules are recorded in an open ledger, without lock-outs`() throws {
        var scenario = Scenario()
        let fewer = SetRules(Self.policy(without: Self.apple), condition: .withoutLockOuts)
        #expect(try scenario.when(.setRules(fewer)) == refused(.unknownTenant))
        _ = try scenario.when(SequencerFixture.opening(of: .default).intent)
        let policy = TenantPolicy(providers: Self.pins)
        let rules = try #require(RulesSet(version: 1, policy: policy))
        let first = SetRules(policy, condition: .noneRecorded)
        for (isNew, events) in [(true, [Event.rulesSet(rules)]), (false, [])] {
            let reply = Reply.rulesRecorded(rules, isNew: isNew, omitted: [])
            #expect(
                try scenario.when(.setRules(first))
                    == Scenario.Effects(result: .success(reply), events: events))
        }
        _ = try scenario.given.signIn(subject("apple", "ada"))
        #expect(
            try scenario.when(.setRules(fewer)) == refused(.accountsLockedOut([Self.apple])))
    }

    @Test func `the first rules may omit used providers, and the reply names them`() throws {
        var scenario = Scenario()
        _ = try scenario.when(SequencerFixture.opening(of: .default).intent)
        for name in ["google", "apple", "facebook"] {
            _ = try scenario.given.signIn(subject(name, "ada"))
        }
        let policy = Self.policy(without: Self.apple)
        let rules = try #require(RulesSet(version: 1, policy: policy))
        let omitted = [Self.apple, provider("facebook")]
        #expect(
            try scenario.when(.setRules(SetRules(policy, condition: .noneRecorded)))
                == then(.rulesRecorded(rules, isNew: true, omitted: omitted), .rulesSet(rules)))
    }

    @Test func `rules omit no used provider if its identities are unlinked`() throws {
        var scenario = Scenario()
        _ = try scenario.when(SequencerFixture.opening(of: .default).intent)
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        _ = try scenario.given.link(
            ada, .success(proof(subject("google", "ada"))), token: 1
        ).get()
        _ = try scenario.given.unlink(ada, "apple").get()
        let policy = Self.policy(without: Self.apple)
        let rules = try #require(RulesSet(version: 1, policy: policy))
        #expect(
            try scenario.when(.setRules(SetRules(policy, condition: .noneRecorded)))
                == then(.rulesRecorded(rules, isNew: true, omitted: []), .rulesSet(rules)))
    }

    @Test func `rules are recorded once, with a version`() throws {
        var ledger = try Self.ledger()
        #expect(ledger.state.ledger.rules?.rulesVersion == 1)
        let same = TenantPolicy(providers: Self.pins)
        #expect(try Self.set(same, in: &ledger).get().rulesVersion == 1)
        #expect(ledger.events.count == 2)
        var other = same
        other.reauthenticationSeconds = 601
        #expect(try Self.set(other, in: &ledger).get().rulesVersion == 2)
        #expect(ledger.events.count == 3)
        #expect(ledger.state.ledger.rules?.policy == other)
    }

    @Test func `a process that starts replaces no rules`() throws {
        var ledger = try Self.ledger()
        let kept = try Self.set(Self.policy(without: Self.apple), .noneRecorded, in: &ledger).get()
        #expect(kept.policy.providers == Self.pins)
        #expect(ledger.events.count == 2)
    }

    @Test func `a log that was not begun has no rules`() throws {
        var ledger = ModelLedger(policy: TenantPolicy(providers: [:]))
        #expect(
            try Self.set(TenantPolicy(providers: Self.pins), in: &ledger)
                == .failure(.unknownTenant))
    }

    @Test func `decisions use the recorded rules, not those of the process`() throws {
        var ledger = try Self.ledger()
        let ada = try ledger.signIn(subject("apple", "ada"))
        _ = try ledger.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
        ledger.policy = TenantPolicy(providers: Self.pins)
        _ = try Self.set(Self.policy(without: Self.google), in: &ledger).get()
        #expect(try ledger.unlink(ada, "apple") == .failure(.onlyProvider))
        #expect(throws: ModelLedger.Unexpected.self) {
            _ = try ledger.signIn(subject("google", "ada"))
        }
    }

    @Test func `ways to sign in are the links whose provider the rules have`() throws {
        var ledger = try Self.ledger()
        let ada = try ledger.signIn(subject("apple", "ada"))
        _ = try ledger.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
        let links = try #require(ledger.account(ada.account)).links
        #expect(waysToSignIn(links, TenantPolicy(providers: Self.pins)) == links)
        #expect(
            waysToSignIn(links, Self.policy(without: Self.google)).map(\.provider) == [Self.apple])
        #expect(waysToSignIn(links, TenantPolicy(providers: [:])) == [])
    }

    @Test
    func
        `a provider that is the only way to sign in to an account is removed only with explicit confirmation`()
        throws
    {
        var ledger = try Self.ledger()
        let ada = try ledger.signIn(subject("apple", "ada"))
        let fewer = Self.policy(without: Self.apple)
        #expect(
            try Self.set(fewer, in: &ledger) == .failure(.accountsLockedOut([Self.apple])))
        _ = try ledger.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
        #expect(try Self.set(fewer, in: &ledger).get().rulesVersion == 2)

        _ = try ledger.signIn(subject("google", "bob"))
        let none = TenantPolicy(providers: [:])
        #expect(try Self.set(none, in: &ledger) == .failure(.accountsLockedOut([Self.google])))
        #expect(try Self.set(none, .acceptsLockOuts, in: &ledger).get().rulesVersion == 3)
        // No account loses a way to sign in that it has not lost already.
        var later = none
        later.reauthenticationSeconds = 601
        #expect(try Self.set(later, in: &ledger).get().rulesVersion == 4)
    }

    @Test(arguments: [SetRules.Condition.withoutLockOuts, .acceptsLockOuts])
    func `a provider with identities keeps its issuers, also while it is removed`(
        condition: SetRules.Condition
    ) throws {
        var ledger = try Self.ledger()
        var other = TenantPolicy(providers: Self.pins)
        other.providers[Self.google] = ProviderPin(type: .oidc, issuers: ["https://other.example"])
        #expect(
            try Self.set(other, condition, in: &ledger).get().rulesVersion == 2,
            "the provider has no identity")
        #expect(
            try Self.set(TenantPolicy(providers: Self.pins), condition, in: &ledger).get()
                .rulesVersion == 3)

        let ada = try ledger.signIn(subject("apple", "ada"))
        _ = try ledger.link(ada, .success(proof(subject("google", "ada"))), token: 1).get()
        #expect(
            try Self.set(other, condition, in: &ledger) == .failure(.providerPinned(Self.google)))
        _ = try ledger.unlink(ada, "google").get()
        #expect(
            try Self.set(other, condition, in: &ledger) == .failure(.providerPinned(Self.google)),
            "the identity was linked before")
        let removed = try Self.set(Self.policy(without: Self.google), condition, in: &ledger).get()
        #expect(removed.formerProviders == Self.pins.filter { $0.key == Self.google })
        #expect(
            try Self.set(other, condition, in: &ledger) == .failure(.providerPinned(Self.google)))
        let back = try Self.set(TenantPolicy(providers: Self.pins), condition, in: &ledger).get()
        #expect(back.formerProviders == [:])
    }

    @Test func `other issuers of a used provider are recorded only with explicit confirmation`()
        throws
    {
        var ledger = ModelLedger(policy: TenantPolicy(providers: Self.pins))
        _ = try ledger.execute(SequencerFixture.opening(of: .default))
        _ = try ledger.signIn(subject("google", "ada"))
        let right = TenantPolicy(providers: Self.pins)
        var wrong = right
        wrong.providers[Self.google] = ProviderPin(type: .oidc, issuers: ["https://other.example"])
        _ = try Self.set(wrong, .noneRecorded, in: &ledger).get()
        let pinned = Refusal.providerPinned(Self.google)
        #expect(try Self.set(right, .acceptsLockOuts, in: &ledger) == .failure(pinned))
        #expect(try Self.set(right, accepting: [Self.apple], in: &ledger) == .failure(pinned))
        let repaired = try Self.set(right, accepting: [Self.google], in: &ledger).get()
        #expect(repaired.policy == right && repaired.formerProviders == [:])
        #expect(try Self.set(wrong, in: &ledger) == .failure(pinned), "it holds once")
        let logged = ledger.events.compactMap { event -> ProviderPin? in
            guard case .rulesSet(let rules) = event else { return nil }
            return rules.policy.providers[Self.google]
        }
        #expect(logged == [wrong, right].compactMap { $0.providers[Self.google] })
    }

    @Test func `a provider that the first rules omit is pinned by its addition`() throws {
        var ledger = ModelLedger(policy: TenantPolicy(providers: Self.pins))
        _ = try ledger.execute(SequencerFixture.opening(of: .default))
        _ = try ledger.signIn(subject("google", "ada"))
        _ = try Self.set(Self.policy(without: Self.google), .noneRecorded, in: &ledger).get()
        var other = TenantPolicy(providers: Self.pins)
        other.providers[Self.google] = ProviderPin(type: .oidc, issuers: ["https://other.example"])
        #expect(try Self.set(other, in: &ledger).get().rulesVersion == 2)
        #expect(
            try Self.set(TenantPolicy(providers: Self.pins), in: &ledger)
                == .failure(.providerPinned(Self.google)))
    }

    @Test func `a provider may be added at any time`() throws {
        var ledger = try Self.ledger()
        _ = try ledger.signIn(subject("apple", "ada"))
        var more = TenantPolicy(providers: Self.pins)
        more.providers[provider("corp")] = ProviderPin(
            type: .oidc, issuers: ["https://corp.example"])
        #expect(try Self.set(more, in: &ledger).get().policy == more)
        _ = try ledger.signIn(subject("corp", "bob"))
    }

    @Test func `rules that do not fit into an entry are refused`() throws {
        var ledger = try Self.ledger()
        var long = TenantPolicy(providers: Self.pins)
        long.providers[Self.google] = ProviderPin(
            type: .oidc, issuers: [String(repeating: "x", count: RulesSet.providersBytesMax)])
        #expect(try Self.set(long, in: &ledger) == .failure(.rulesTooLong))
    }

    @Test func `the stored form is read again, and no other`() throws {
        let rules = Examples.rules
        #expect(try RulesSet(body: rules.body) == rules)
        for text in [
            "", "{}", rules.body + " ", rules.body.replacing("\"7\"", with: "\"07\""),
            rules.body.replacing("corp oidc", with: "zcorp oidc"),
            rules.body.replacing("oidc", with: "oauth"), rules.body.replacing("%3b", with: "%3B"),
            rules.body.replacing("%20", with: "%2"), rules.body.replacing("%c3%b6", with: "%c3"),
            rules.body.replacing("\"true\"", with: "\"yes\""),
            rules.body.replacing("google oidc ", with: "google oidc  "),
        ] {
            #expect(throws: EntryFault.self, "\(text)") { try RulesSet(body: text) }
        }
    }

    @Test func `the days of unused numbers are recorded only where they are not the default`()
        throws
    {
        for days: Int64 in [180, 0, 90] {
            var policy = TenantPolicy(providers: Self.pins)
            policy.phoneUnusedDays = days
            let rules = try #require(RulesSet(version: 1, policy: policy))
            #expect(rules.body.contains("phone_unused_days") == (days != 180))
            #expect(rules.version == (days == 180 ? 1 : 4))
            #expect(try RulesSet(body: rules.body) == rules)
        }
        var policy = TenantPolicy(providers: Self.pins)
        policy.phoneUnusedDays = -1
        #expect(RulesSet(version: 1, policy: policy) == nil)
    }

    @Test func `the hours of support's plans are recorded only where they are not the default`()
        throws
    {
        var policy = TenantPolicy(providers: Self.pins)
        for hours: Int64 in [24, 1, 168] {
            policy.supportDelayHours = hours
            let rules = try #require(RulesSet(version: 1, policy: policy))
            #expect(rules.body.contains("support_delay_hours") == (hours != 24))
            #expect(rules.version == (hours == 24 ? 1 : 5))
            #expect(try RulesSet(body: rules.body) == rules)
        }
        for hours: Int64 in [-1, 0, 169] {
            policy.supportDelayHours = hours
            #expect(RulesSet(version: 1, policy: policy) == nil)
        }
    }

    @Test func `issuers' factors and accepted counters are recorded only where there are any`()
        throws
    {
        let methods = try #require(AuthenticationMethods("hwk mfa"))
        let changes: [(name: String, change: (inout TenantPolicy) -> Void)] = [
            ("second_factor_amr", { $0.secondFactorMethods = [Self.google: methods] }),
            ("counter_rollback_providers", { $0.counterRollbackProviders = [provider("keys")] }),
        ]
        for (name, change) in changes {
            var ledger = try Self.ledger()
            let former = try #require(ledger.state.ledger.rules)
            #expect(former.version == 1 && !former.body.contains(name))
            // Rules without the members have the defaults.
            #expect(try RulesSet(body: former.body).policy == TenantPolicy(providers: Self.pins))
            var policy = TenantPolicy(providers: Self.pins)
            change(&policy)
            let rules = try Self.set(policy, in: &ledger).get()
            #expect(rules.rulesVersion == 2 && rules.version == 6 && rules.body.contains(name))
            #expect(try RulesSet(body: rules.body) == rules)
        }
    }

    @Test func `an entry has room for rules none of which is the default`() throws {
        var policy = Examples.rules.policy
        policy.eraseNeedsTwo = true
        policy.confirmLater = true
        policy.phoneUnusedDays = 0
        policy.supportDelayHours = 48
        policy.supportNeedsTwo = true
        policy.secondFactorMethods = [Self.google: .federated]
        policy.counterRollbackProviders = [provider("keys")]
        let rules = try #require(RulesSet(version: 1, policy: policy))
        let recorded = RecordedEvent(
            tenant: .default, position: LogPosition(1), id: EventID(bits: 1),
            recordedAt: Timestamp(seconds: 1_790_000_000), actor: .system,
            command: CommandID(bits: 2), request: nil, accounts: [], disclosureDigests: [],
            event: .rulesSet(rules))
        #expect(try EntryEncoding.decode(EntryEncoding.encode(recorded)) == recorded)
    }

    @Test func `a version that does not follow is a fault`() throws {
        let ledger = try Self.ledger()
        var state = ledger.state.ledger
        let rules = try #require(RulesSet(version: 3, policy: TenantPolicy(providers: [:])))
        let recorded = RecordedEvent(
            tenant: .default, position: state.nextPosition, id: EventID(bits: 1),
            recordedAt: state.lastRecordedAt, actor: .system, command: CommandID(bits: 2),
            request: nil, accounts: [], disclosureDigests: [], event: .rulesSet(rules))
        #expect(throws: FoldFault.impossible("the next rules have version 2, not 3")) {
            try state.apply(recorded, leaf: .zero)
        }
    }
}
