import Cryptography
import Ledger
import LedgerPostgres

/// `hold set`: keeps an account from being erased.
enum HoldSetCommand {
    static let syntax = Syntax(
        words: ["hold", "set"], summary: "keep an account from being erased",
        operands: [.init(placeholder: "ACCOUNT", meaning: "the account's id")],
        options: [AdministeredCommand.reasonOption, APIKeyCommands.tenantOption],
        settings: [.databaseURL, .keys],
        details: """
            Prints the hold's id, which lifts it. An account may have several holds at once; each of them
            keeps it.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        let reason = try AdministeredCommand.reason(arguments)
        let command = try AdministeredCommand(arguments, environment)
        let hold = HoldID(at: .now, random: SecureRandom.uint128())
        var access = AccessRecord(by: nil, .setLegalHold)
        access.account = account
        access.reason = reason
        access.details = ["hold": hold.description]
        _ = try await command.carryOut(
            [.setLegalHold(SetLegalHold(account: account, newHold: hold, actor: .system))],
            as: access)
        Terminal.print("\(hold)\n")
        return .success
    }
}

/// `hold lift`: ends a hold.
enum HoldLiftCommand {
    static let syntax = Syntax(
        words: ["hold", "lift"], summary: "end a legal hold on an account",
        operands: [
            .init(placeholder: "ACCOUNT", meaning: "the account's id"),
            .init(
                placeholder: "HOLD", meaning: "the hold's id, as hold set and hold list print it"),
        ],
        options: [AdministeredCommand.reasonOption, APIKeyCommands.tenantOption],
        settings: [.databaseURL, .keys])

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard let hold = HoldID(arguments.operands[1]) else {
            throw arguments.misuse("HOLD is the id of a hold: a UUID")
        }
        let reason = try AdministeredCommand.reason(arguments)
        let command = try AdministeredCommand(arguments, environment)
        var access = AccessRecord(by: nil, .liftLegalHold)
        access.account = account
        access.reason = reason
        access.details = ["hold": hold.description]
        _ = try await command.carryOut(
            [.liftLegalHold(LiftLegalHold(account: account, hold: hold, actor: .system))],
            as: access)
        Terminal.print("hold \(hold) on account \(account) is lifted\n")
        return .success
    }
}

/// `hold list`: which accounts are held.
enum HoldListCommand {
    static let syntax = Syntax(
        words: ["hold", "list"], summary: "print the legal holds of a tenant",
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL],
        details: "A line a hold: the account's id, the hold's id, and when it was set.")

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let command = try AdministeredCommand(arguments, environment)
        let held = try SchemaCheck.withConnection(to: command.url) {
            try HeldAccounts.read(command.tenant, on: $0)
        }
        Terminal.print(
            held.map { "\($0.account)\t\($0.hold)\t\($0.hold.madeAt)\n" }.joined())
        return .success
    }
}
