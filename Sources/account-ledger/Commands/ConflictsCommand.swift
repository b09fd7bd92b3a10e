import CommandLine
import Ledger
import LedgerAPI
import LedgerPostgres

/// `conflicts`: prints refused claims to identities, with both accounts and the event that ended them.
enum ConflictsCommand {
    static let syntax = Syntax(
        words: ["conflicts"], summary: "print refused claims to identities and how they ended",
        options: [
            HistoryCommands.tenantOption,
            .init(name: "state", placeholder: "STATE", meaning: "open or resolved; default: both"),
            .init(
                name: "account", placeholder: "ACCOUNT",
                meaning: "only conflicts with this account as caller or holder"),
            HistoryCommands.formatOption,
        ],
        settings: [.databaseURL],
        details: """
            Ordered by the last attempt. As text, at most 100 columns wide, or as one line of JSON per
            conflict. Prints ids only.
            """)

    private static let pageRows = 1_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        var query = ConflictQuery(limit: pageRows)
        query.state = try arguments.value(
            of: "state", as: "open or resolved", Conflict.State.init(rawValue:))
        query.account = try arguments.value(of: "account", as: "an account id") { AccountID($0) }
        let format = try HistoryCommands.format(arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let faults = LastFault()
        let reads = ConflictReads(url: url) { faults.note($0) }
        let output = BufferedOutput()
        var count = 0
        var page: ConflictPage
        repeat {
            do throws(LedgerFault) {
                page = try await reads.conflicts(matching: query, in: tenant)
            } catch {
                throw Fault(faults.last ?? "unknown cause")
            }
            for conflict in page.page.elements {
                try output.add(
                    format == .json
                        ? String(decoding: conflict.json, as: UTF8.self) + "\n" : conflict.text)
            }
            count += page.page.elements.count
            query.after = page.page.cursor.map { LogPosition($0) }
        } while page.page.hasMore
        await reads.close()
        if format == .text {
            try output.add(
                "\(count) \(count == 1 ? "conflict" : "conflicts"), folded from \(page.foldedSize) of \(page.logSize) events\n"
            )
        }
        try output.finish()
        return .success
    }
}

extension Conflict {
    /// The text format.
    fileprivate var text: String {
        var text = Columns.lines([
            state.rawValue, reason.rawValue, provider.description,
            identity.map { "identity \($0)" } ?? "an identity that no account ever had",
        ])
        text += Columns.lines(["    caller \(caller)", Self.now(caller, callerNow)])
        if let holder = holder ?? holderNow {
            text += Columns.lines(["    holder \(holder)", Self.now(holder, holderNow)])
        }
        text += Columns.lines(
            attempts == 1
                ? ["    1 attempt", first.text]
                : ["    \(attempts) attempts", "the first \(first.text)", "the last \(last.text)"])
        if let resolution {
            text += Columns.lines([
                "    ended by \(resolution.type)", resolution.mark.text, "by \(resolution.actor)",
            ])
        }
        return text
    }

    private static func now(_ then: AccountID, _ now: AccountID?) -> String {
        guard let now else { return "now none" }
        return now == then ? "unchanged" : "now \(now)"
    }
}

extension Conflict.Mark {
    fileprivate var text: String { "#\(position)  \(recordedAt)" }
}
