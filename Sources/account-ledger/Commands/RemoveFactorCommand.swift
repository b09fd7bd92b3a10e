import CommandLine
import Ledger

/// `remove-factor`: plans the removal of a second factor that a person lost, or stops it.
enum RemoveFactorCommand {
    static let syntax = Syntax(
        words: ["remove-factor"], summary: "plan the removal of a lost second factor",
        operands: [
            .init(placeholder: "ACCOUNT", meaning: "account id"),
            .init(placeholder: "FACTOR", meaning: "factor id"),
        ],
        options: [
            AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
            .init(name: "stop", meaning: "keep the factor: stop its planned removal"),
            .init(name: "dry-run", meaning: "print what would be done and change nothing"),
        ],
        settings: MergeCase.settings,
        details: """
            Appends SecondFactorRemovalPlanned: FACTOR is removed by a running server, after 24 hours or the
            tenant's support_delay_hours, unless its holder or support stops that, or the holder signs in with it.
            The addresses of ACCOUNT are told.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard arguments.operands.count > 1, let factor = FactorID(arguments.operands[1]) else {
            throw arguments.usageError("FACTOR must be a UUID")
        }
        let isDryRun = arguments.has("dry-run")
        let isStop = arguments.has("stop")
        guard !isDryRun || !isStop else {
            throw arguments.usageError("--dry-run shows a removal, so not with --stop")
        }
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        guard !isDryRun else {
            let plan = try await command.run(
                PlanFactorRemoval.Preview(of: factor, of: account, actor: .system), as: nil,
                keyring: rules.keyring, policy: rules.policy, noticeLanguage: rules.noticeLanguage)
            Terminal.print(plan.text)
            return .success
        }
        var access = AccessRecord(by: nil, isStop ? .stopFactorRemoval : .planFactorRemoval)
        access.account = account
        access.reason = reason
        access.details = ["case": reference, "factor": factor.description]
        let changed = try await command.run(
            PlanFactorRemoval(
                isStop ? .stop : .plan, of: factor, of: account, actor: .system, reason: reason,
                caseReference: reference),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        Terminal.print(
            changed.plan.text
                + (changed.event == nil ? "nothing changed: it is so already\n" : "done\n"))
        return .success
    }
}

extension PlanFactorRemoval.Plan {
    /// The plan, one fact per line.
    fileprivate var text: String {
        let action =
            due.map { "remove factor \(factor) of account \(account) at \($0)" }
            ?? "keep factor \(factor) of account \(account)"
        return "\(action)\n  its kind is \(kind.rawValue); the account keeps "
            + (keepsFactor ? "another second factor\n" : "no other second factor\n")
    }
}
