import CommandLine
import Ledger
import LedgerEngine
import LedgerPostgres

/// `relink`: undoes an unlink.
enum RelinkCommand {
    static let syntax = Syntax(
        words: ["relink"],
        summary: "undo an unlink",
        operands: [
            .init(
                placeholder: "ACCOUNT", meaning: "id of the account that had the identity last"),
            .init(placeholder: "IDENTITY", meaning: "identity id"),
        ],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "print what would be done and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends ProviderLinked: the identity signs in to ACCOUNT again. The identity must have no account
            now, and ACCOUNT must be the last one it had. Refused, with the reason, when ACCOUNT has another
            identity of a provider that allows one per account, or when the disclosures of the link were
            destroyed.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard arguments.operands.count > 1, let identity = IdentityID(arguments.operands[1]) else {
            throw arguments.usageError("IDENTITY must be an identity id: a UUID")
        }
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        var access = AccessRecord(by: nil, .relinkIdentity)
        access.account = account
        access.reason = reason
        access.details = ["case": reference, "identity": identity.description]
        let former = try await former(identity, account, command, rules.keyring)
        guard !isDryRun else {
            let plan = try await command.run(
                RelinkProvider.Preview(
                    account: account, identity: identity, former: former, actor: .system),
                as: nil, keyring: rules.keyring, policy: rules.policy,
                noticeLanguage: rules.noticeLanguage)
            Terminal.print(plan.text)
            return .success
        }
        let relinked = try await command.run(
            RelinkProvider(
                account: account, identity: identity, former: former, actor: .system,
                reason: reason, caseReference: reference, isPreview: false),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        Terminal.print(relinked.plan.text + "done\n")
        return .success
    }

    private static func former(
        _ identity: IdentityID, _ account: AccountID, _ command: AdministeredCommand,
        _ keyring: WrappingKeyring
    ) async throws(Fault) -> FormerLink? {
        let faults = LastFault()
        let reads = EventReads(url: command.url, keyring: keyring) { faults.note($0) }
        let found: FormerLink?
        do throws(LedgerFault) {
            found = try await reads.formerLink(
                of: identity, to: account, in: command.tenant)
        } catch {
            throw Fault(faults.last ?? "unknown cause")
        }
        await reads.close()
        return found
    }
}

extension RelinkProvider.Plan {
    /// The effects, one per line.
    fileprivate var text: String {
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        return """
            link identity \(identity) of \(provider) to account \(account) again
              sign-in is then possible with \(names)

            """
    }
}
