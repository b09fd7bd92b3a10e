import CommandLine
import Ledger
import LedgerAPI
import LedgerAudit
import LedgerEngine
import LedgerMessages
import LedgerPostgres
import LedgerSignIn

/// `merge`: merges one account into another.
enum MergeCommand {
    static let syntax = Syntax(
        words: ["merge"],
        summary: "merge an account into another one of the same person",
        operands: [
            .init(placeholder: "SURVIVOR", meaning: "id of the account that remains"),
            .init(placeholder: "ABSORBED", meaning: "id of the account that is merged into it"),
        ],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option,
            .init(
                name: "keep-absorbed", placeholder: "PROVIDERS",
                meaning: "comma-separated providers of which ABSORBED's identity is kept"),
            APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "print what would be done and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends AccountsMerged: the identities of ABSORBED move to SURVIVOR and keep their linking times.
            Of a provider that allows one identity per account, SURVIVOR's is kept. The sessions of ABSORBED
            end, and from then on its id refers to SURVIVOR. unmerge undoes the merge. Prints for each identity
            with an e-mail whether its provider verified it: an unverified address proves nothing.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let survivor = try account(0, "SURVIVOR", arguments)
        let absorbed = try account(1, "ABSORBED", arguments)
        let kept = try keptProviders(arguments)
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        let authority = MergeAccounts.Authority.support(
            .system,
            MergeAccounts.Case(
                survivor: survivor, absorbed: absorbed, reason: reason, reference: reference))
        let planned = try await command.run(
            MergeAccounts.Preview(authority: authority, keepsAbsorbed: kept, digest: planDigest),
            as: nil, policy: rules.policy)
        let searches = SearchReads(url: command.url, keys: nil) { _ in }
        let emailFlags = await planned.plan.emailFlags(from: searches, in: command.tenant)
        await searches.close()
        Terminal.print(planned.plan.text(emailFlags))
        guard !isDryRun else { return .success }
        var access = AccessRecord(by: nil, .mergeAccounts)
        access.account = survivor
        access.reason = reason
        access.details = ["absorb": absorbed.description, "case": reference]
        let outcome = try await command.run(
            MergeAccounts(
                authority: authority, keepsAbsorbed: kept, agreed: planned.digest,
                digest: planDigest),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        if let merged = outcome.done {
            Terminal.print("merged; to undo: unmerge \(merged.event)\n")
        }
        return .success
    }

    private static func account(
        _ index: Int, _ name: String, _ arguments: Arguments
    ) throws(UsageError) -> AccountID {
        guard arguments.operands.count > index, let id = AccountID(arguments.operands[index]) else {
            throw arguments.usageError("\(name) must be an account id: a UUID")
        }
        return id
    }

    private static func keptProviders(
        _ arguments: Arguments
    ) throws(UsageError) -> Set<ProviderName> {
        try Set(
            arguments.value(of: "keep-absorbed", as: "provider names", ProviderName.list) ?? [])
    }
}

/// Shared parts of `merge`, `unmerge` and `relink`.
enum MergeCase {
    static let settings: [Setting] =
        [.databaseURL, .keys, .mode, .providers] + PolicyLimits.settings
    static let option = Syntax.Option(
        name: "case", placeholder: "TEXT", meaning: "reference of the support case; required")

    /// Returns the case reference.
    ///
    /// - Throws: `UsageError` when it is missing or malformed.
    static func read(_ arguments: Arguments) throws(UsageError) -> String {
        let reference = try arguments.value(of: "case", as: "1 to 128 printable ASCII characters") {
            let isPrintable = $0.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            return isPrintable && (1...128).contains($0.utf8.count) ? $0 : nil
        }
        guard let reference else { throw arguments.usageError("missing option --case") }
        return reference
    }

    /// Returns the tenant's recorded policy, the configured one while none is recorded, the keys that encrypt
    /// the reason, and the language of notices, which is English for a tenant that is not configured here.
    ///
    /// - Throws: `Fault` when the environment does not set them, or the recorded rules are damaged.
    static func rules(
        _ environment: Environment, _ command: AdministeredCommand
    ) throws(Fault) -> (
        policy: TenantPolicy, keyring: WrappingKeyring, noticeLanguage: MessageLanguage?
    ) {
        guard let keyring = try LedgerCommands.keyring(environment) else {
            throw Fault(
                "\(Setting.keys.name) is not set: the reason is encrypted with the account's key")
        }
        let tenant = command.tenant
        let recorded = try SchemaCheck.withConnection(to: command.url) {
            try RecordedRules.read(on: $0)
        }
        switch recorded[tenant] {
        case .success(let rules):
            let hasAddresses = rules.policy.providers.values.contains { $0.type.addressKind != nil }
            var language = MessageLanguage.english
            if let path = environment.given(.providers) {
                let tenants = try TenantSetup.read(path: path, limits: PolicyLimits(environment))
                language = tenants[tenant]?.messages.language ?? language
            }
            return (rules.policy, keyring, hasAddresses ? language : nil)
        case .failure: throw Fault("tenant \(tenant): \(RulesCommands.damaged)")
        case nil: break
        }
        let policy = try RulesSetup.rules(of: tenant, environment)
        if let policy { return (policy, keyring, nil) }
        return (try PolicyLimits(environment).policy, keyring, nil)
    }
}

extension ProviderName {
    /// Reads names that commas part; nil for any other text.
    static func list(_ text: String) -> [ProviderName]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let names = parts.compactMap { ProviderName(String($0)) }
        return names.count == parts.count ? names : nil
    }
}

extension MergePlan {
    /// The effects, one per line.
    fileprivate func text(_ emailFlags: EmailFlags) -> String {
        var lines = ["merge account \(absorbed) into account \(survivor):"]
        for (what, links, whose) in [
            ("kept       ", kept, ""), ("moved      ", moved, ""), ("left behind", dropped, ""),
            ("replaced   ", replaced, ", of the survivor"),
        ] {
            lines += links.map {
                "  \(what)   \($0.provider)  identity \($0.identity)\(whose)\($0.text(emailFlags))"
            }
        }
        lines += choices.map {
            "  one of \($0.provider) is kept: the \($0.keepsAbsorbed ? "absorbed account" : "survivor")'s"
        }
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        lines.append("  sign-in is then possible with \(names)")
        lines.append("  the sessions of account \(absorbed) end")
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Account.Link {
    /// The verification state of its e-mail; empty without an e-mail.
    fileprivate func text(_ emailFlags: EmailFlags) -> String {
        switch emailFlags[identity] {
        case .some(true): ", e-mail verified"
        case .some(false): ", e-mail NOT verified"
        case .some(.none): ", e-mail not known to be verified"
        case .none: ""
        }
    }
}
