import CommandLine
import Cryptography
import Ledger
import LedgerPostgres

/// `hold set`: protects an account from erasure.
enum HoldSetCommand {
    static let syntax = Syntax(
        words: ["hold", "set"], summary: "protect an account from erasure",
        operands: [.init(placeholder: "ACCOUNT", meaning: "account id")],
        options: [AdministeredCommand.reasonOption, APIKeyCommands.tenantOption],
        settings: [.databaseURL, .keys],
        details: """
            Prints the hold's id, which hold lift requires. An account may have several holds; each of them
            prevents its erasure.
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
        _ = try await command.run(
            SetLegalHold(account: account, newHold: hold, actor: .system), as: access)
        Terminal.print("\(hold)\n")
        return .success
    }
}

/// `hold lift`: ends a legal hold.
enum HoldLiftCommand {
    static let syntax = Syntax(
        words: ["hold", "lift"], summary: "end a legal hold on an account",
        operands: [
            .init(placeholder: "ACCOUNT", meaning: "account id"),
            .init(
                placeholder: "HOLD", meaning: "hold id as printed by hold set and hold list"),
        ],
        options: [AdministeredCommand.reasonOption, APIKeyCommands.tenantOption],
        settings: [.databaseURL, .keys])

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try AdministeredCommand.account(arguments)
        guard let hold = HoldID(arguments.operands[1]) else {
            throw arguments.usageError("HOLD must be a hold id: a UUID")
        }
        let reason = try AdministeredCommand.reason(arguments)
        let command = try AdministeredCommand(arguments, environment)
        var access = AccessRecord(by: nil, .liftLegalHold)
        access.account = account
        access.reason = reason
        access.details = ["hold": hold.description]
        try await command.run(
            LiftLegalHold(account: account, hold: hold, actor: .system), as: access)
        Terminal.print("hold \(hold) on account \(account) is lifted\n")
        return .success
    }
}

/// `hold list`: prints a tenant's legal holds.
enum HoldListCommand {
    static let syntax = Syntax(
        words: ["hold", "list"], summary: "print the legal holds of a tenant",
        options: [APIKeyCommands.tenantOption], settings: [.databaseURL],
        details: "One line per hold: account id, hold id and the time it was set.")

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
