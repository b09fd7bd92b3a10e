import Ledger
import LedgerPostgres

/// `history`: prints every event that touches an account, and says what is proved by them.
enum HistoryCommand {
    static let syntax = Syntax(
        words: ["history"], summary: "print an account's whole history, and what it proves",
        operands: [HistoryReading.account],
        options: [
            HistoryReading.tenantOption, HistoryReading.asOfOption, HistoryReading.formatOption,
            HistoryReading.discloseOption,
        ],
        settings: [.databaseURL, .keys],
        details: """
            As text, or as a line of JSON for each event with the exact entry. Ends, on standard error in
            the case of JSON, with a statement of completeness. Where the history is not whole there is no
            statement, and the exit code is 1: replay --account shows what is left of it.
            """)

    private static let pageEvents = 1_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try HistoryReading.account(arguments)
        let format = try HistoryReading.format(arguments)
        let asOf = try HistoryReading.moment("as-of", arguments)
        let url = try environment.databaseURL
        let tenant = try LedgerReading.tenant(arguments, url: url) ?? .default
        let keyring = try HistoryReading.keyring(arguments, environment)
        let faults = FaultNote()
        let reads = HistoryReading.reads(url, keyring: keyring, faults)
        let output = BufferedOutput()
        var last: LogPosition?
        var statement: String?
        while statement == nil {
            let page: HistoryPage?
            do throws(HistoryFault) {
                page = try await reads.history(
                    of: account, after: last, asOf: asOf, limit: pageEvents,
                    isDisclosing: keyring != nil, in: tenant)
            } catch {
                try output.finish()
                throw HistoryReading.fault(error, faults)
            }
            guard let page else { throw HistoryReading.unknown(account, in: tenant) }
            for event in page.events {
                try output.add((format == .json ? event.jsonLine : event.text) + "\n")
            }
            last = page.events.last?.recorded.position ?? last
            statement = page.eventCount.map { self.statement($0, of: account, page) }
        }
        await reads.close()
        if format == .text, let statement { try output.add(statement + "\n") }
        try output.finish()
        if format == .json, let statement { Terminal.complain(statement) }
        return .success
    }

    private static func statement(
        _ count: Int64, of account: AccountID, _ page: HistoryPage
    ) -> String {
        let place = page.asOf?.text ?? "before the first event"
        guard count > 0 else {
            return "complete: no event touches account \(account) up to \(place); \(page.log.text)"
        }
        return "complete: \(count) events touch account \(account) up to \(place), seq 0 to"
            + " \(count - 1), each naming the one before it; \(page.log.text)"
    }
}
