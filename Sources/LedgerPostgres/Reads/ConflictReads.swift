package import Ledger
import Postgres

/// Reads of the `conflicts` read model on its own connection.
package struct ConflictReads: ConflictReader {
    /// The maximum number of conflicts that one page examines.
    package static let windowMax: Int64 = 20_000

    private static let begin = Statement(
        "conflict_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let extent = Statement(
        "conflict_extent",
        """
        SELECT coalesce(max(p.position), 0) AS folded, coalesce(max(h.next_position), 0) AS head
        FROM projection_tables t
        LEFT JOIN projections p
            ON p.tenant_id = $1 AND p.name = t.name AND p.generation = t.generation
        LEFT JOIN ledger_head h ON h.tenant_id = $1
        WHERE t.name = 'conflicts' AND t.state = 'served'
        """)

    private static let window = Statement(
        "conflict_window",
        """
        SELECT count(*) AS count, max(last_position) AS last FROM (
            SELECT last_position FROM conflicts
            WHERE tenant_id = $1 AND last_position > $2 ORDER BY last_position LIMIT $3) w
        """)

    private static let page = Statement(
        "conflict_page",
        """
        SELECT \(ConflictsTable.columns) FROM conflicts
        WHERE tenant_id = $1 AND last_position > $2 AND last_position <= $3
            AND ($4::boolean IS NULL OR (resolved_position IS NULL) = $4)
            AND ($5::text IS NULL OR callers @> ARRAY[$5::text]
                OR holder_id = $5::uuid OR holder_now = $5::uuid)
        ORDER BY last_position LIMIT $6
        """)

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `conflicts`, `projections` and heads.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Postgres.Session(
            url: url, applicationName: "account-ledger conflicts", connectTimeout: .seconds(2),
            statementDeadline: .seconds(11)
        ) { try $0.execute("SET statement_timeout = '10s'; SET jit = off") }
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the next conflicts, in the order of their last attempts.
    package func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage {
        do {
            return try await session.run { connection in
                try connection.transaction(Self.begin) {
                    try Self.read(query, in: tenant, on: connection)
                }
            }
        } catch {
            onFault("reading conflicts failed: \(error)")
            throw .unavailable
        }
    }

    private static func read(
        _ query: ConflictQuery, in tenant: TenantID, on connection: Connection
    ) throws -> ConflictPage {
        let name = Parameter.text(tenant.description)
        let after = Parameter.int8(query.after?.value ?? -1)
        let results = try connection.pipeline([
            Call(extent, [name]), Call(window, [name, after, .int8(windowMax)]),
        ])
        guard results.count == 2 else { throw PostgresError.unexpectedResult("no extent") }
        let looked = try results[1].int8(0, results[1].column("count"))
        let end = try results[1].optionalInt8(0, results[1].column("last"))
        var found: [Conflict] = []
        if let end {
            let rows = try connection.query(
                page,
                [
                    name, after, .int8(end),
                    query.state.map { .bool($0 == .open) } ?? .null,
                    query.account.map { .text($0.description) } ?? .null,
                    .int8(Int64(query.limit) + 1),
                ])
            found = try (0..<rows.rowCount).map { try ConflictsTable.read(rows, $0) }
        }
        let isFull = found.count > query.limit
        let shown = Array(found.prefix(query.limit))
        // A page that is not full was examined up to the window's end.
        let cursor = isFull ? shown.last?.last.position.value : end
        return ConflictPage(
            page: CursorPage(
                elements: shown, cursor: cursor ?? query.after?.value,
                hasMore: isFull || looked >= windowMax),
            foldedSize: try results[0].int8(0, results[0].column("folded")),
            logSize: try results[0].int8(0, results[0].column("head")))
    }
}
