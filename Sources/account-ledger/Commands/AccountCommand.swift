import CommandLine
import Ledger
import LedgerAPI
import LedgerAudit

/// `account`: prints the state of an account at a moment, or the changes between two moments.
enum AccountCommand {
    static let syntax = Syntax(
        words: ["account"],
        summary: "print an account's state at any moment, replayed from the log",
        operands: [HistoryCommands.account],
        options: [
            HistoryCommands.tenantOption, HistoryCommands.asOfOption,
            .init(
                name: "diff", placeholder: "MOMENT", secondPlaceholder: "MOMENT",
                meaning: "print the changes between two moments instead"),
            HistoryCommands.formatOption,
        ],
        settings: [.databaseURL],
        details: """
            Replays the account's events in one snapshot and checks each: its seq is the next one, its prev is
            the leaf hash of the previous event, and no later event up to the moment is missing. If a check
            fails, nothing is printed but the fault and the exit code is 1. Prints no personal data.
            """)

    /// The most events that a difference lists; `history` prints all of them.
    private static let eventsMax = 1_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try HistoryCommands.account(arguments)
        let format = try HistoryCommands.format(arguments)
        let asOf = try HistoryCommands.moment("as-of", arguments)
        let from = try HistoryCommands.moment("diff", arguments)
        let to = try HistoryCommands.secondMoment("diff", arguments)
        guard asOf == nil || from == nil else {
            throw arguments.usageError("--as-of and --diff exclude each other")
        }
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let faults = LastFault()
        let reads = HistoryCommands.reads(url, keyring: nil, faults)
        let text = try await text(
            of: account, in: tenant, asOf: asOf, from: from, to: to, format, reads, faults)
        await reads.close()
        Terminal.print(text)
        return .success
    }

    private static func text(
        of account: AccountID, in tenant: TenantID, asOf: Moment?, from: Moment?, to: Moment?,
        _ format: HistoryCommands.Format, _ reads: HistoryReads, _ faults: LastFault
    ) async throws -> String {
        do {
            if let from {
                let changes = try await reads.changes(
                    of: account, from: from, to: to, limit: eventsMax, isDisclosing: false,
                    in: tenant)
                guard let changes else { throw HistoryCommands.unknown(account, in: tenant) }
                return format == .json ? line(changes.json) : changes.text
            }
            let answer = try await reads.resolvedAccount(account, asOf: asOf, in: tenant)
            guard let answer else { throw HistoryCommands.unknown(account, in: tenant) }
            guard format == .text else { return line(answer.json) }
            let survivor = answer.found.account.id
            let merged =
                survivor == account
                ? "" : "account \(account) was merged into account \(survivor)\n"
            return merged + answer.found.text
        } catch let fault as HistoryFault {
            throw HistoryCommands.fault(fault, faults)
        }
    }

    private static func line(_ json: [UInt8]) -> String {
        String(decoding: json, as: UTF8.self) + "\n"
    }
}
