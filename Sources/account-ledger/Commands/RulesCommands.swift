import CommandLine
import Ledger
import LedgerPostgres

/// `rules show`: prints the recorded rules of tenants.
enum RulesShowCommand {
    static let syntax = Syntax(
        words: ["rules", "show"], summary: "print the recorded rules of tenants",
        options: [LedgerCommands.tenantOption], settings: [.databaseURL])

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let url = try environment.databaseURL
        let only = try LedgerCommands.tenant(arguments, url: url)
        let recorded = try SchemaCheck.withConnection(to: url) { try RecordedRules.read(on: $0) }
        var isDamaged = false
        for (tenant, rules) in recorded.sorted(by: { $0.key < $1.key })
        where only == nil || only == tenant {
            guard let rules = try? rules.get() else {
                isDamaged = true
                Terminal.print("tenant \(tenant): \(RulesCommands.damaged)\n")
                continue
            }
            Terminal.print("tenant \(tenant), version \(rules.rulesVersion)\n")
            for field in rules.fields { Terminal.print("  \(field.name): \(field.text)\n") }
        }
        return isDamaged ? .fault : .success
    }
}

/// `rules check`: compares the configuration with the recorded rules.
enum RulesCheckCommand {
    private static let accountsMax = 1_000

    static let syntax = Syntax(
        words: ["rules", "check"],
        summary:
            "compare the configuration with the recorded rules, and list who would be locked out",
        options: [LedgerCommands.tenantOption], settings: RulesCommands.settings,
        details: """
            Prints what 'rules set' would change, the options that it needs, and the accounts that would have no
            way to sign in, or would lose a second factor, at most \(accountsMax) of each tenant. Exits with 1 when the rules of a tenant are
            not those of the configuration: its servers answer 503 RULES_DIFFER to commands until 'rules set'.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let commands = try RulesCommands(arguments, environment)
        var differs = false
        for (tenant, policy) in commands.configured {
            switch commands.recorded[tenant] {
            case .success(let recorded) where recorded.policy == policy:
                Terminal.print("tenant \(tenant): as configured\n")
                continue
            case .success(let recorded):
                Terminal.print("tenant \(tenant): differs\n")
                try compare(recorded, with: policy, of: tenant, url: commands.url)
            case .failure: Terminal.print("tenant \(tenant): \(RulesCommands.damaged)\n")
            case nil: Terminal.print("tenant \(tenant): no rules are recorded\n")
            }
            differs = true
        }
        return differs ? .fault : .success
    }

    private static func compare(
        _ recorded: RulesSet, with policy: TenantPolicy, of tenant: TenantID, url: String
    ) throws {
        Terminal.print(recorded.differences(to: policy).map { "  \($0)\n" }.joined())
        let (pinned, lockedOut, losing) = try SchemaCheck.withConnection(to: url) {
            (
                try RecordedRules.providers(
                    of: tenant, pinnedOtherwiseIn: policy, than: recorded, on: $0),
                try RecordedRules.accounts(
                    of: tenant, lockedOutBy: policy, since: recorded.policy,
                    limit: accountsMax, on: $0),
                try RecordedRules.accounts(
                    of: tenant, losingFactorsBy: policy, since: recorded.policy,
                    limit: accountsMax, on: $0)
            )
        }
        if !pinned.isEmpty {
            let names = pinned.map(\.description).joined(separator: ",")
            Terminal.print(
                "  another type or issuers for identities: needs --accept-issuer \(names)\n")
        }
        list("locked out", lockedOut)
        list("without the provider of a passkey that is a second factor", losing)
    }

    private static func list(_ what: String, _ found: (accounts: [AccountID], count: Int64)) {
        guard found.count > 0 else { return }
        Terminal.print("  \(what): \(found.count) accounts: needs --accept-lock-outs\n")
        Terminal.print(found.accounts.map { "    \($0)\n" }.joined())
    }
}

/// `rules set`: records the configured rules of tenants.
enum RulesSetCommand {
    static let syntax = Syntax(
        words: ["rules", "set"], summary: "record the configured rules of tenants",
        options: [
            LedgerCommands.tenantOption,
            .init(
                name: "accept-lock-outs",
                meaning:
                    "also when accounts lose their last way to sign in or a second factor; 'rules check' lists them"
            ),
            .init(
                name: "accept-issuer", placeholder: "PROVIDERS",
                meaning:
                    "comma-separated providers with identities whose recorded type or issuers are wrong"
            ),
        ],
        settings: RulesCommands.settings,
        details: """
            serve records the rules of a tenant that has none. From then on it needs this command when the
            configuration has changed: a server whose configuration differs from a tenant's rules answers 503
            RULES_DIFFER to the tenant's commands, so that two servers never decide differently. Restart the
            servers with the new configuration right before or after. The type and the issuers of a provider
            that has identities change only with --accept-issuer: the owner of the new issuers can sign in
            to the accounts.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let commands = try RulesCommands(arguments, environment)
        let condition: SetRules.Condition =
            arguments.has("accept-lock-outs") ? .acceptsLockOuts : .withoutLockOuts
        let accepted = try Set(
            arguments.value(of: "accept-issuer", as: "provider names", ProviderName.list) ?? [])
        if !accepted.isEmpty, commands.configured.count > 1 {
            throw arguments.usageError("--accept-issuer needs --tenant: several are configured")
        }
        let macs = try LedgerCommands.macKeys(environment)
        for (tenant, policy) in commands.configured {
            if let move = commands.moves[tenant] {
                LedgerCommands.reportMoved(tenant, move)
                continue
            }
            let command = AdministeredCommand(url: commands.url, tenant: tenant, macs: macs)
            let replies: [Reply]
            do {
                replies = try await command.run(
                    [
                        .setRules(
                            SetRules(policy, condition: condition, acceptedIssuers: accepted))
                    ], as: nil)
            } catch {
                throw Fault("tenant \(tenant): \(error)")
            }
            guard case .rulesRecorded(let rules, let isNew, _) = replies.first else { continue }
            Terminal.print(
                "tenant \(tenant): version \(rules.rulesVersion)\(isNew ? "" : ", as before")\n")
        }
        return .success
    }
}

/// The configured and the recorded rules that the subcommands compare.
struct RulesCommands {
    static let settings: [Setting] =
        [.databaseURL, .providers, .keys, .mode] + PolicyLimits.settings

    static let damaged = "the recorded rules are damaged: run \(Syntax.program) verify"

    let url: String
    let recorded: [TenantID: Result<RulesSet, any Error>]
    /// The tenants that are being moved, or were.
    let moves: [TenantID: TenantMove]
    /// The tenants with configured rules, in order; only the one of `--tenant`, if it is given.
    let configured: [(tenant: TenantID, policy: TenantPolicy)]

    init(_ arguments: Arguments, _ environment: Environment) throws {
        url = try environment.databaseURL
        let only = try LedgerCommands.tenant(arguments, url: url)
        let book = try TenantOpenings.read(url: url)
        let opened = book.tenants
        moves = book.moves
        recorded = try SchemaCheck.withConnection(to: url) { try RecordedRules.read(on: $0) }
        let all = try RulesSetup.all(environment, of: opened)
        if let missing = all.keys.sorted().first(where: { !opened.contains($0) }) {
            throw Fault("tenant \(missing) does not exist")
        }
        if let only, all[only] == nil { throw Fault("tenant \(only) is not configured") }
        configured = all.sorted { $0.key < $1.key }.map { (tenant: $0.key, policy: $0.value) }
            .filter { only == nil || only == $0.tenant }
    }
}

extension RulesSet {
    /// The rules as names and texts, without their version.
    fileprivate var fields: [(name: String, text: String)] {
        let written: [(name: String, text: String)] = details.fields.compactMap { field in
            guard case .text(let text) = field.value, field.name != "rules_version" else {
                return nil
            }
            return (field.name, text)
        }
        // They are written only where they differ from their defaults.
        let optional = [
            (name: "confirm_later", text: String(policy.confirmLater)),
            (name: "counter_rollback_providers", text: policy.counterRollbackProviders.entryText),
            (name: "erase_needs_two", text: String(policy.eraseNeedsTwo)),
            (name: "phone_unused_days", text: String(policy.phoneUnusedDays)),
            (name: "second_factor_amr", text: policy.secondFactorMethods.entryText),
            (name: "support_delay_hours", text: String(policy.supportDelayHours)),
            (name: "support_needs_two", text: String(policy.supportNeedsTwo)),
        ]
        return optional
            + written.filter { field in !optional.contains { $0.name == field.name } }
    }

    /// Returns the rules that others change, one in a line.
    fileprivate func differences(to policy: TenantPolicy) -> [String] {
        guard
            let other = RulesSet(
                version: rulesVersion, policy: policy, formerProviders: formerProviders)
        else { return ["the providers are too long for an entry of the log"] }
        return zip(fields, other.fields).compactMap { old, new in
            old.text == new.text ? nil : "\(old.name): \(old.text) -> \(new.text)"
        }
    }
}
