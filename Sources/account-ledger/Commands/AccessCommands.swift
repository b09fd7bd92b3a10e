import CommandLine
import Ledger

/// `disable`: ends the sessions of an account and refuses its sign-ins.
enum DisableCommand {
    static let syntax = AccessChange.syntax(
        "disable", summary: "disable an account",
        details: """
            Appends AccountDisabled: all sessions of ACCOUNT end, nothing signs in to it, and it is neither
            linked nor merged, until enable. It can still be erased and held. An account that was merged into
            another one is disabled with the survivor.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try await AccessChange.run(.disable, .disableAccount, arguments, environment)
    }
}

/// `enable`: allows sign-ins to a disabled account again.
enum EnableCommand {
    static let syntax = AccessChange.syntax(
        "enable", summary: "enable a disabled account",
        details:
            "Appends AccountEnabled: its identities sign in to ACCOUNT again. Its sessions stay ended."
    )

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try await AccessChange.run(.enable, .enableAccount, arguments, environment)
    }
}

/// `end-sessions`: signs an account out everywhere.
enum EndSessionsCommand {
    static let syntax = AccessChange.syntax(
        "end-sessions", summary: "sign an account out everywhere",
        details: "Appends SessionsEnded: all sessions of ACCOUNT end.")

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        try await AccessChange.run(.endSessions, .endSessions, arguments, environment)
    }
}

/// The parts that changes of access share.
private enum AccessChange {
    static func syntax(_ word: String, summary: String, details: String) -> Syntax {
        Syntax(
            words: [word], summary: summary,
            operands: [.init(placeholder: "ACCOUNT", meaning: "account id")],
            options: [
                AdministeredCommand.reasonOption, MergeCase.option, APIKeyCommands.tenantOption,
                .init(name: "dry-run", meaning: "print what would be done and change nothing"),
            ],
            settings: MergeCase.settings, details: details)
    }

    static func run(
        _ change: ChangeAccess.Change, _ action: AccessAction, _ arguments: Arguments,
        _ environment: Environment
    ) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        let isDryRun = arguments.has("dry-run")
        let reason = isDryRun ? "" : try AdministeredCommand.reason(arguments)
        let reference = isDryRun ? "" : try MergeCase.read(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let rules = try MergeCase.rules(environment, command)
        guard !isDryRun else {
            let plan = try await command.run(
                ChangeAccess.Preview(change, of: account, actor: .system), as: nil,
                keyring: rules.keyring, policy: rules.policy, noticeLanguage: rules.noticeLanguage)
            Terminal.print(plan.text(change))
            return .success
        }
        var access = AccessRecord(by: nil, action)
        access.account = account
        access.reason = reason
        access.details = ["case": reference]
        let changed = try await command.run(
            ChangeAccess(
                change, of: account, actor: .system, reason: reason, caseReference: reference),
            as: access, keyring: rules.keyring, policy: rules.policy,
            noticeLanguage: rules.noticeLanguage)
        Terminal.print(
            changed.plan.text(change)
                + (changed.event == nil
                    ? "nothing changed: the account is in this state already\n" : "done\n"))
        return .success
    }
}

extension ChangeAccess.Plan {
    /// The effects of a change, one per line.
    fileprivate func text(_ change: ChangeAccess.Change) -> String {
        let action =
            switch change {
            case .disable: "disable account \(account) and end its sessions"
            case .enable: "enable account \(account)"
            case .endSessions: "end all sessions of account \(account)"
            }
        let names = linkedProviders.map(\.description).joined(separator: ", ")
        let merged = covers.filter { $0 != account }.map { "  account \($0) was merged into it\n" }
        return "\(action)\n  it is \(isDisabled ? "disabled" : "enabled"), and linked to \(names)\n"
            + merged.joined()
    }
}
