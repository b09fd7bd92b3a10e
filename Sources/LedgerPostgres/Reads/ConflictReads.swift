package import Ledger
import LedgerEngine
import Postgres

/// Reads of the `conflicts` read model on its own connection.
package struct ConflictReads: ConflictReader {
    /// The maximum number of conflicts that one page examines.
    package static let windowMax: Int64 = 20_000

    private static let begin = Statement(
        "conflict_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let head = Statement(
        "conflict_head",
        "SELECT coalesce(max(next_position), 0) FROM ledger_head WHERE tenant_id = $1")

    /// The number of conflicts behind a cursor, up to a limit, and the first and the last of them.
    private static func window(_ table: ProjectionTable, _ order: ReadingOrder) -> Statement {
        Statement(
            "\(table)_window_\(order.rawValue)",
            """
            SELECT count(*) AS count, min(last_position) AS first, max(last_position) AS last FROM (
                SELECT last_position FROM \(table)
                WHERE tenant_id = $1 AND last_position \(order == .oldest ? ">" : "<") $2
                ORDER BY last_position \(order.direction) LIMIT $3) w
            """)
    }

    private static func page(_ table: ProjectionTable, _ order: ReadingOrder) -> Statement {
        Statement(
            "\(table)_page_\(order.rawValue)",
            """
            SELECT \(ConflictsTable.columns) FROM \(table)
            WHERE tenant_id = $1 AND last_position >= $2 AND last_position <= $3
                AND ($4::boolean IS NULL OR (resolved_position IS NULL) = $4)
                AND ($5::text IS NULL OR callers @> ARRAY[$5::text]
                    OR holder_id = $5::uuid OR holder_now = $5::uuid)
            ORDER BY last_position \(order.direction) LIMIT $6
            """)
    }

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

    /// Returns the next conflicts, in the order of their last attempts or in the reverse one.
    package func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage {
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    try Self.read(query, in: tenant, on: connection)
                }
            }
        } catch {
            onFault("reading conflicts failed: \(error)")
            throw .unavailable
        }
    }

    /// Reads a page inside the open snapshot.
    static func read(
        _ query: ConflictQuery, in tenant: TenantID, on connection: Connection
    ) throws -> ConflictPage {
        let name = Parameter.text(tenant.description)
        let seen = query.after?.value ?? (query.order == .oldest ? -1 : .max)
        let table = try ProjectionTables.served(.conflicts, on: connection)
        let results = try connection.pipeline([
            Call(head, [name]), Checkpoints.call(of: table, in: tenant),
            Call(window(table, query.order), [name, .int8(seen), .int8(windowMax)]),
        ])
        guard results.count == 3 else { throw PostgresError.unexpectedResult("no extent") }
        let looked = try results[2].int8(0, results[2].column("count"))
        let first = try results[2].optionalInt8(0, results[2].column("first"))
        let last = try results[2].optionalInt8(0, results[2].column("last"))
        var found: [Conflict] = []
        if let first, let last {
            let rows = try connection.query(
                page(table, query.order),
                [
                    name, .int8(first), .int8(last),
                    query.state.map { .bool($0 == .open) } ?? .null,
                    query.account.map { .text($0.description) } ?? .null,
                    .int8(Int64(query.limit) + 1),
                ])
            found = try (0..<rows.rowCount).map { try ConflictsTable.read(rows, $0) }
        }
        let isFull = found.count > query.limit
        let shown = Array(found.prefix(query.limit))
        // A page that is not full was examined up to the window's end.
        let end = query.order == .oldest ? last : first
        let cursor = isFull ? shown.last?.last.position.value : end
        return ConflictPage(
            page: CursorPage(
                elements: shown, cursor: cursor ?? query.after?.value,
                hasMore: isFull || looked >= windowMax),
            foldedSize: try Checkpoints.checkpoint(results[1], of: table)?.position.value ?? 0,
            logSize: try results[0].int8(0, 0))
    }
}
