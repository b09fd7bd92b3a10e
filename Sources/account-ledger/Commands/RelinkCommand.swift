import Ledger
import LedgerPostgres

/// `relink`: takes an unlink back.
enum RelinkCommand {
    static let syntax = Syntax(
        words: ["relink"],
        summary: "take an unlink back",
        operands: [
            .init(
                placeholder: "ACCOUNT", meaning: "the account that the identity belonged to last"),
            .init(placeholder: "IDENTITY", meaning: "the identity's id"),
        ],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
            .init(name: "dry-run", meaning: "say what would be done, and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends ProviderLinked: the identity signs in to ACCOUNT again. It must belong to nobody, and ACCOUNT
            must be the one that it belonged to last. Refused, with the reason, when ACCOUNT has another identity
            of the provider of which it may have one, or when what the link disclosed was destroyed.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard arguments.operands.count > 1, let identity = IdentityID(arguments.operands[1]) else {
            throw arguments.misuse("IDENTITY is the id of an identity: a UUID")
        }
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command.tenant)
        var access = AccessRecord(by: nil, .relinkIdentity)
        access.account = account
        access.reason = reason
        access.details = ["case": reference, "identity": identity.description]
        let intent = RelinkProvider(
            account: account, identity: identity,
            former: try await former(identity, account, command, rules.keyring), actor: .system,
            reason: reason, caseReference: reference, isPreview: isDryRun)
        let replies = try await command.carryOut(
            [.relinkProvider(intent)], as: isDryRun ? nil : access, keyring: rules.keyring,
            policy: rules.policy)
        switch replies.first {
        case .relinkPlanned(let plan): Terminal.print(plan.text)
        case .relinked(let plan, _): Terminal.print(plan.text + "done\n")
        default: throw Fault("the ledger gave another answer than to relinking")
        }
        return .success
    }

    private static func former(
        _ identity: IdentityID, _ account: AccountID, _ command: AdministeredCommand,
        _ keyring: WrappingKeyring
    ) async throws(Fault) -> FormerLink? {
        let faults = FaultNote()
        let reads = EventReads(url: command.url, keyring: keyring) { faults.note($0) }
        let found: FormerLink?
        do throws(LedgerFault) {
            found = try await reads.formerLink(
                of: identity, to: account, in: command.tenant)
        } catch {
            throw Fault(faults.last ?? "no reason known")
        }
        await reads.close()
        return found
    }
}

extension RelinkProvider.Plan {
    /// What it does, line by line.
    fileprivate var text: String {
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        return """
            identity \(identity) of \(provider) belongs to account \(account) again
              afterwards it can be signed in with \(names)

            """
    }
}
