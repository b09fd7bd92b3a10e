import CommandLine
import Ledger
import LedgerAudit

/// `unlink-identity`: plans the unlink of an identity for the account holder, or stops it.
enum UnlinkIdentityCommand {
    static let syntax = Syntax(
        words: ["unlink-identity"], summary: "plan the unlink of an identity",
        operands: [
            .init(placeholder: "ACCOUNT", meaning: "account id"),
            .init(placeholder: "IDENTITY", meaning: "identity id"),
        ],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
            .init(name: "stop", meaning: "keep the identity: stop its planned unlink"),
            .init(name: "dry-run", meaning: "print what would be done and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends ProviderUnlinkPlanned: IDENTITY is unlinked from ACCOUNT by a running server, after 24 hours or
            the tenant's support_delay_hours, unless the holder or support stops that. The addresses of ACCOUNT
            are told. The last way to sign in is never unlinked.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard arguments.operands.count > 1, let identity = IdentityID(arguments.operands[1]) else {
            throw arguments.usageError("IDENTITY must be an identity id: a UUID")
        }
        let isDryRun = arguments.has("dry-run")
        let isStop = arguments.has("stop")
        guard !isDryRun || !isStop else {
            throw arguments.usageError("--dry-run shows an unlink, so not with --stop")
        }
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        guard !isDryRun else {
            let plan = try await command.run(
                PlanUnlink.Preview(of: identity, of: account, actor: .system), as: nil,
                keyring: rules.keyring, policy: rules.policy, noticeLanguage: rules.noticeLanguage)
            Terminal.print(plan.text + (try await sessions(of: plan, command)))
            return .success
        }
        var access = AccessRecord(by: nil, isStop ? .stopUnlink : .planUnlink)
        access.account = account
        access.reason = reason
        access.details = ["case": reference, "identity": identity.description]
        let changed = try await command.run(
            PlanUnlink(
                isStop ? .stop : .plan, of: identity, of: account, actor: .system, reason: reason,
                caseReference: reference),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        Terminal.print(
            changed.plan.text
                + (changed.event == nil ? "nothing changed: it is so already\n" : "done\n"))
        return .success
    }

    /// The sessions that the unlink would end, one per line.
    private static func sessions(
        of plan: PlanUnlink.Plan, _ command: AdministeredCommand
    ) async throws -> String {
        let faults = LastFault()
        let reads = HistoryCommands.reads(command.url, keyring: nil, faults)
        let found: AccountAsOf?
        do {
            found = try await reads.account(plan.account, asOf: nil, in: command.tenant)
        } catch {
            throw HistoryCommands.fault(error, faults)
        }
        await reads.close()
        let ended = found?.account.sessions.filter { $0.identity == plan.identity } ?? []
        return "  it ends \(ended.count) session\(ended.count == 1 ? "" : "s")\n"
            + ended.map { "    \($0.id), opened at \($0.openedAt)\n" }.joined()
    }
}

extension PlanUnlink.Plan {
    /// The plan, one fact per line.
    fileprivate var text: String {
        let named = "identity \(identity) of \(provider)"
        let providers = linkedProviders.map(\.description).joined(separator: ", ")
        guard let due else { return "keep \(named) at account \(account)\n" }
        return "unlink \(named) from account \(account) at \(due)\n"
            + "  the account keeps: \(providers)\n"
    }
}
