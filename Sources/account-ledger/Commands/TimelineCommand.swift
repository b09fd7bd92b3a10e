import CommandLine
import Ledger
import LedgerAPI
import LedgerAudit

/// `timeline`: prints the interleaved histories of an account and of all accounts merged with it.
enum TimelineCommand {
    static let syntax = Syntax(
        words: ["timeline"],
        summary: "print the events of an account and of all accounts merged with it",
        operands: [HistoryCommands.account],
        options: [
            HistoryCommands.tenantOption, HistoryCommands.asOfOption, HistoryCommands.formatOption,
            DisclosureOptions.option, DisclosureOptions.reasonOption,
        ],
        settings: [.databaseURL, .keys],
        details: """
            ACCOUNT may be any of the merged accounts. Each event is printed once, in commit order, with the
            account's sign-in providers before and after it. As text, at most 100 columns wide, or as one line
            of JSON per event. Ends with a statement of completeness, for JSON on standard error. If a history
            is incomplete, there is no statement and the exit code is 1.
            """)

    private static let pageRows = 5_000

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let account = try HistoryCommands.account(arguments)
        let format = try HistoryCommands.format(arguments)
        let asOf = try HistoryCommands.moment("as-of", arguments)
        let disclosing = try DisclosureOptions(arguments, environment)
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        func record(_ page: TimelinePage?) async throws {
            var details: [String: String?] = page?.accessDetails ?? [:]
            details["as_of"] = arguments["as-of"]
            try await disclosing?.record(
                .readTimeline, account: account, details: details, in: tenant, url: url)
        }
        let faults = LastFault()
        let reads = HistoryCommands.reads(url, keyring: disclosing?.keyring, faults)
        let output = BufferedOutput()
        var cursor: TimelineCursor?
        var isFirst = true
        while true {
            let page: TimelinePage?
            do throws(HistoryFault) {
                page = try await reads.timeline(
                    of: account, after: cursor, asOf: asOf, limit: pageRows,
                    isDisclosing: disclosing != nil, in: tenant)
            } catch {
                if isFirst { try await record(nil) }
                try output.finish()
                throw HistoryCommands.fault(error, faults)
            }
            // The first page shows which accounts are read; the access is recorded before any output.
            if isFirst { try await record(page) }
            guard let page else { throw HistoryCommands.unknown(account, in: tenant) }
            let text = TimelineText(page, of: tenant)
            if format == .text, isFirst { try output.add(text.heading) }
            isFirst = false
            for row in page.rows {
                try output.add(
                    format == .json
                        ? String(decoding: row.json, as: UTF8.self) + "\n" : text.lines(of: row))
            }
            if let next = page.next, page.hasMore {
                cursor = next
                continue
            }
            await reads.close()
            if format == .text { try output.add(text.ending) }
            try output.finish()
            if format == .json { Terminal.printError("complete: \(page.statement)") }
            return .success
        }
    }
}
