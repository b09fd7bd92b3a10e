import CommandLine
import Ledger
import LedgerPostgres

/// `access-log`: prints the access log.
enum AccessLogCommand {
    private static let pageLimit = 1_000

    static let syntax = Syntax(
        words: ["access-log"], summary: "print the access log: reads over HTTP and by operators",
        options: [
            APIKeyCommands.tenantOption,
            .init(name: "from", placeholder: "MOMENT", meaning: "position or RFC 3339 time"),
            .init(name: "to", placeholder: "MOMENT", meaning: "position or RFC 3339 time"),
            .init(
                name: "principal", placeholder: "NAME",
                meaning: "only this principal: api_key:ID, staff:ID or operator"),
        ],
        settings: [.databaseURL],
        details: """
            One tab-separated line per access: position, time, principal, role, action, outcome, account,
            event, whether personal data was disclosed, reason, details (JSON), request id. Positions have no
            gaps unless lines were deleted: gaps are reported on standard error and the exit code is then 1.
            """)

    static func run(_ arguments: Arguments, _ environment: Environment) async throws -> ExitCode {
        let moment = "a position or an RFC 3339 time"
        var query = AccessQuery(limit: pageLimit)
        query.from = try arguments.value(of: "from", as: moment) { Moment($0) }
        query.through = try arguments.value(of: "to", as: moment) { Moment($0) }
        query.principal = arguments["principal"]
        let url = try environment.databaseURL
        let tenant = try LedgerCommands.tenant(arguments, url: url) ?? .default
        let output = BufferedOutput()
        // Nil until the first line was read, when the range begins at a time.
        var expected: Int64?
        switch query.from {
        case .position(let position)?: expected = position.value
        case .time?: break
        case nil: expected = 0
        }
        var last: Int64?
        var isWhole = true
        let isFiltered = query.principal != nil
        try await PostgresAccessLog.pages(matching: query, in: tenant, url: url) { page in
            for access in page.elements {
                if !isFiltered, let wanted = expected, access.position != wanted {
                    Terminal.printError("lines \(wanted)..<\(access.position) are missing")
                    isWhole = false
                }
                expected = access.position + 1
                try output.add(line(access))
            }
            last = page.cursor
        }
        if !isFiltered, let expected, let last, expected <= last {
            Terminal.printError("lines \(expected)..<\(last + 1) are missing")
            isWhole = false
        }
        try output.finish()
        return isWhole ? .success : .fault
    }

    private static func line(_ access: LoggedAccess) -> String {
        [
            String(access.position), access.at.description, access.principal, access.role,
            access.action, access.outcome, access.account?.description ?? "-",
            access.event?.description ?? "-", access.isDisclosed ? "disclosed" : "-",
            access.reason ?? "-", access.details, access.request?.description ?? "-",
        ].joined(separator: "\t") + "\n"
    }
}
