import CommandLine
import Ledger
import LedgerAudit
import Postgres

/// `owner`: prints which accounts held an identity, and when.
enum OwnerCommand {
    static let syntax = Syntax(
        words: ["owner"], summary: "print which account held an identity, and when",
        operands: [
            .init(placeholder: "PROVIDER", meaning: "provider name"),
            .init(placeholder: "PROVIDER_ID", meaning: "the provider's id of the subject"),
        ],
        options: [HistoryCommands.tenantOption, HistoryCommands.asOfOption],
        settings: [.databaseURL, .keys],
        details: """
            Reads the whole log in one snapshot, with little memory, and checks all events that name the
            identity against each other and, with LEDGER_KEYS, authenticates them. The log contains no provider ids: the identity is looked up, and the
            lookup entry is deleted when the account that held it last is erased. An answer without a holder
            is valid: the exit code is 1 only for an unknown subject or an incomplete log. Uses the serving
            login, or another that may read subjects; the auditors' group may not.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        guard let provider = ProviderName(arguments.operands[0]) else {
            throw arguments.usageError("PROVIDER must be a provider name")
        }
        guard
            let subject = Subject(
                provider: provider, providerID: arguments.operands[1])
        else { throw arguments.usageError("PROVIDER_ID is not a valid provider id") }
        let asOf = try HistoryCommands.moment("as-of", arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let owners = IdentityOwners(
            url: url, macs: try LedgerCommands.macKeysIfAny(environment))
        let output = BufferedOutput()
        let found: IdentityOwners.Found?
        do {
            found = try await owners.owners(of: subject, asOf: asOf, in: tenant) { holding in
                try output.add(text(of: holding) + "\n")
            }
        } catch HistoryFault.notReached(let size) {
            throw HistoryCommands.fault(.notReached(size: size), LastFault())
        } catch PostgresError.server(let error) where error.state == .insufficientPrivilege {
            throw Fault(
                "\(Setting.databaseURL.name) names a login without the right to read subjects: owner"
                    + " requires one with it, such as the serving login")
        }
        await owners.close()
        guard let found else {
            throw Fault(
                "the subject has no identity in tenant \(tenant): it never had one, or the account"
                    + " that held it last was erased")
        }
        let moment = found.asOf?.text ?? "before the first event"
        let holder = found.holding.map { "account \($0.account) held" } ?? "no account held"
        try output.add("as of \(moment) \(holder) identity \(found.identity); \(found.log.text)\n")
        try output.finish()
        return .success
    }

    private static func text(of holding: Holding) -> String {
        "account \(holding.account)  from \(holding.from.text)"
            + (holding.until.map { "  until \($0.text)" } ?? "  on")
    }
}
