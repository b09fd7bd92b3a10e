package import Ledger
import Postgres

/// The access log: written through the gate, read on its own connection.
package struct PostgresAccessLog: AccessLog {
    /// The maximum number of entries that one page examines.
    static let windowMax: Int64 = 20_000

    private static let head = Statement(
        "access_head", "SELECT next_position FROM access_heads WHERE tenant_id = $1")

    private static let page = pages(.oldest)
    private static let newestPage = pages(.newest)

    private static func pages(_ order: ReadingOrder) -> Statement {
        Statement(
            "access_page_\(order.rawValue)",
            """
            SELECT position, accessed_at, principal, role, action, account_id, event_id, details,
                disclosed, reason, outcome, request_id
            FROM access_log
            WHERE tenant_id = $1 AND position >= $2 AND position < $3
                AND ($4::text IS NULL OR principal = $4)
            ORDER BY position \(order.direction) LIMIT $5
            """)
    }

    /// The time before the event of a hold within which its access was recorded.
    private static let holdSecondsMax: Int64 = 300

    private static let holdReason = Statement(
        "access_hold_reason",
        """
        SELECT reason FROM access_log
        WHERE tenant_id = $1 AND position >= $2 AND position < $3 AND account_id = $4
            AND action = $5 AND outcome = 'allowed' AND position($6 IN details) > 0
        ORDER BY position DESC LIMIT 1
        """)

    private let gate: AccessGate
    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the log; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a login that may read `access_log`.
    ///   - gate: Writes the entries.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(
        url: String, gate: AccessGate, onFault: @escaping @Sendable (String) -> Void
    ) {
        self.gate = gate
        self.onFault = onFault
        session = Self.session(url: url)
    }

    private static func session(url: String) -> Postgres.Session {
        Session.forReads(url: url, named: "access log", seconds: 10)
    }

    /// Writes one entry, which is durable when this returns.
    package func record(_ access: AccessRecord, in tenant: TenantID) async throws(LedgerFault) {
        try await gate.record(access, in: tenant)
    }

    /// Returns the next matching entries after a position.
    package func accesses(
        matching query: AccessQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> CursorPage<LoggedAccess> {
        do {
            return try await session.run { try Self.accesses(matching: query, in: tenant, on: $0) }
        } catch {
            onFault("reading the access log failed: \(error)")
            throw .unavailable
        }
    }

    /// Returns the reason in the record of a hold, among those of the minutes before its event.
    package func reason(
        of hold: PlacedHold, on account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> String? {
        do {
            return try await session.run { connection in
                try Self.reason(of: hold, on: account, in: tenant, on: connection)
            }
        } catch {
            onFault("reading the access log failed: \(error)")
            throw .unavailable
        }
    }

    private static func reason(
        of hold: PlacedHold, on account: AccountID, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> String? {
        let name = Parameter.text(tenant.description)
        let time = hold.mark.recordedAt
        let heads = try connection.query(head, [name])
        let range = try TimeSearch.accesses.range(
            from: .time(time.adding(seconds: -holdSecondsMax)),
            through: .time(time.adding(seconds: holdSecondsMax)),
            head: heads.rowCount == 1 ? try heads.int8(0, 0) : 0, in: tenant, on: connection)
        let rows = try connection.query(
            holdReason,
            [
                name, .int8(max(range.lowerBound, range.upperBound - windowMax)),
                .int8(range.upperBound), .uuid(account.bits),
                .text(AccessAction.setLegalHold.rawValue), .text(hold.hold.description),
            ])
        return rows.rowCount == 1 ? try rows.optionalText(0, rows.column("reason")) : nil
    }

    /// Passes all pages to a body, for the command line with any login that may read the log.
    ///
    /// - Throws: `PostgresError`, or the body's error.
    package static func pages(
        matching query: AccessQuery, in tenant: TenantID, url: String,
        _ body: (CursorPage<LoggedAccess>) throws -> Void
    ) async throws {
        let session = session(url: url)
        var query = query
        while true {
            let next = query
            let page = try await session.run {
                try accesses(matching: next, in: tenant, on: $0)
            }
            try body(page)
            guard page.hasMore, page.cursor != query.after else { break }
            query.after = page.cursor
        }
        await session.close()
    }

    private static func accesses(
        matching query: AccessQuery, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> CursorPage<LoggedAccess> {
        let name = Parameter.text(tenant.description)
        let heads = try connection.query(head, [name])
        // Entries below the current head are visible to every later statement.
        let head = heads.rowCount == 1 ? try heads.int8(0, 0) : 0
        let wanted = try TimeSearch.accesses.range(
            from: query.from, through: query.through, head: head, in: tenant, on: connection)
        let window = LogWindow(
            wanted, query.order, after: query.after, countMax: windowMax)
        let rows = try connection.query(
            query.order == .oldest ? page : newestPage,
            [
                name, .int8(window.start), .int8(window.end),
                query.principal.map(Parameter.text) ?? .null, .int8(Int64(query.limit)),
            ])
        var accesses: [LoggedAccess] = []
        for row in 0..<rows.rowCount { accesses.append(try LoggedAccess(rows, row)) }
        return window.page(accesses, limit: query.limit, position: \.position)
    }
}

extension ReadingOrder {
    /// The word after a column of `ORDER BY`.
    var direction: String { self == .oldest ? "ASC" : "DESC" }
}

extension LoggedAccess {
    init(_ rows: QueryResult, _ row: Int) throws(PostgresError) {
        self.init(
            position: try rows.int8(row, rows.column("position")),
            at: Timestamp(microseconds: try rows.timestamp(row, rows.column("accessed_at"))),
            principal: try rows.text(row, rows.column("principal")),
            role: try rows.text(row, rows.column("role")),
            action: try rows.text(row, rows.column("action")),
            account: try rows.optionalUUID(row, rows.column("account_id")).map(
                AccountID.init(bits:)),
            event: try rows.optionalUUID(row, rows.column("event_id")).map(EventID.init(bits:)),
            details: try rows.text(row, rows.column("details")),
            isDisclosed: try rows.bool(row, rows.column("disclosed")),
            reason: try rows.optionalText(row, rows.column("reason")),
            outcome: try rows.text(row, rows.column("outcome")),
            request: try rows.optionalUUID(row, rows.column("request_id")).map(
                RequestID.init(bits:)))
    }
}
