import CommandLine
import Ledger
import LedgerAudit

/// `history`: prints every event that touches an account, and a statement of completeness.
enum HistoryCommand {
    static let syntax = Syntax(
        words: ["history"],
        summary: "print an account's complete history with a statement of completeness",
        operands: [HistoryCommands.account],
        options: [
            HistoryCommands.tenantOption, HistoryCommands.asOfOption, HistoryCommands.formatOption,
            DisclosureOptions.option, DisclosureOptions.reasonOption,
        ],
        settings: [.databaseURL, .keys],
        details: """
            As text, or as one line of JSON per event with the exact entry. Ends with a statement of
            completeness, for JSON on standard error. If the history is incomplete, there is no statement and
            the exit code is 1; replay --account prints the remaining events.
            """)

    private static let pageEvents = 1_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try HistoryCommands.account(arguments)
        let format = try HistoryCommands.format(arguments)
        let asOf = try HistoryCommands.moment("as-of", arguments)
        let disclosing = try DisclosureOptions(arguments, environment)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        try await disclosing?.record(
            .readHistory, account: account, details: ["as_of": arguments["as-of"]], in: tenant,
            url: url)
        let faults = LastFault()
        let reads = HistoryCommands.reads(url, keyring: disclosing?.keyring, faults)
        let output = BufferedOutput()
        var last: ReplayedEvent?
        var count: Int64 = 0
        var statement: String?
        while statement == nil {
            let page: HistoryPage?
            do throws(HistoryFault) {
                page = try await reads.history(
                    of: account, after: last?.recorded.position, asOf: asOf, limit: pageEvents,
                    isDisclosing: disclosing != nil, in: tenant)
            } catch {
                try output.finish()
                throw HistoryCommands.fault(error, faults)
            }
            guard let page else { throw HistoryCommands.unknown(account, in: tenant) }
            for event in page.events {
                // A page is checked by itself; its continuity with the previous page is checked here.
                guard event.recorded.follows(on: last, count, of: account) else {
                    throw Fault("the history changed while it was being read")
                }
                last = event
                count += 1
                try output.add(format == .json ? event.jsonLine : event.text + "\n")
            }
            guard let total = page.eventCount else { continue }
            guard total == count else {
                throw Fault("the history changed while it was being read")
            }
            statement = self.statement(total, of: account, page)
        }
        await reads.close()
        if format == .text, let statement { try output.add(statement + "\n") }
        try output.finish()
        if format == .json, let statement { Terminal.printError(statement) }
        return .success
    }

    private static func statement(
        _ count: Int64, of account: AccountID, _ page: HistoryPage
    ) -> String {
        let moment = page.asOf?.text ?? "before the first event"
        guard count > 0 else {
            return "complete: no event touches account \(account) up to \(moment); \(page.log.text)"
        }
        return "complete: \(count) events touch account \(account) up to \(moment), seq 0 to"
            + " \(count - 1), each naming the one before it; \(page.log.text)"
    }
}

extension RecordedEvent {
    /// Whether this is the account's next event after `count` events that end with `last`.
    fileprivate func follows(
        on last: ReplayedEvent?, _ count: Int64, of account: AccountID
    ) -> Bool {
        let reference = accounts.first { $0.id == account }
        return reference?.sequence == count && reference?.previous == last?.leaf
    }
}
