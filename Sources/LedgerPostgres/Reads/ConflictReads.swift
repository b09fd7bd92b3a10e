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

    /// The notes since the last attempts of some conflicts, by the positions of their attempts.
    private static let reviews = Statement(
        "conflict_reviews_of",
        """
        SELECT v.first_position, v.note, v.principal, v.reviewed_at
        FROM unnest($2::bigint[], $3::bigint[]) AS k (first_position, last_position)
        CROSS JOIN LATERAL (
            SELECT first_position, note, principal, reviewed_at FROM conflict_reviews
            WHERE tenant_id = $1 AND first_position = k.first_position
                AND last_position = k.last_position
            OFFSET 0) v
        """)

    private static func one(_ table: ProjectionTable) -> Statement {
        Statement(
            "\(table)_one",
            """
            SELECT \(ConflictsTable.columns) FROM \(table)
            WHERE tenant_id = $1 AND first_position = $2 AND first_event = $3
            """)
    }

    private static func counts(_ table: ProjectionTable) -> Statement {
        Statement(
            "\(table)_counts",
            """
            SELECT count(*) AS count, count(*) FILTER (WHERE w.resolved_position IS NULL) AS open,
                count(*) FILTER (WHERE w.resolved_position IS NULL AND EXISTS (
                    SELECT FROM conflict_reviews v
                    WHERE v.tenant_id = $1 AND v.first_position = w.first_position
                        AND v.last_position = w.last_position)) AS reviewed
            FROM (SELECT first_position, last_position, resolved_position FROM \(table)
                WHERE tenant_id = $1 ORDER BY last_position DESC LIMIT $2) w
            """)
    }

    // The rows of both accounts stay locked until the note is there: an erasure, which deletes them, then
    // deletes the note, too.
    private static let accounts = Statement(
        "conflict_accounts",
        """
        SELECT account_id FROM accounts WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[])
        ORDER BY account_id FOR KEY SHARE
        """)

    private static let write = Statement(
        "write_conflict_review",
        """
        INSERT INTO conflict_reviews AS v (tenant_id, first_position, last_position, caller_id,
            holder_id, note, principal, reviewed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (tenant_id, first_position) DO UPDATE
        SET last_position = excluded.last_position, note = excluded.note,
            principal = excluded.principal, reviewed_at = excluded.reviewed_at
        """)

    private static let delete = Statement(
        "delete_conflict_review",
        "DELETE FROM conflict_reviews WHERE tenant_id = $1 AND first_position = $2")

    private static let beginWrite = Statement("conflict_review_begin", "BEGIN")

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `conflicts`, `projections` and heads.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Session.forReads(url: url, named: "conflicts", seconds: 10)
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

    /// Returns the conflict that begins with an event, and its note.
    package func conflict(
        of first: EventID, in tenant: TenantID
    ) async throws(LedgerFault) -> (found: ReviewedConflict, extent: ConflictExtent)? {
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    let table = try ProjectionTables.served(.conflicts, on: connection)
                    let found = try Self.find(first, of: table, in: tenant, on: connection)
                    guard let found else { return nil }
                    let reviews = try Self.reviews(of: [found], in: tenant, on: connection)
                    return (
                        ReviewedConflict(found, reviews[found.first.position]),
                        try Self.extent(of: table, in: tenant, on: connection)
                    )
                }
            }
        } catch {
            onFault("reading a conflict failed: \(error)")
            throw .unavailable
        }
    }

    /// Counts the conflicts with the last attempts.
    package func counts(in tenant: TenantID) async throws(LedgerFault) -> ConflictCounts {
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    let table = try ProjectionTables.served(.conflicts, on: connection)
                    let rows = try connection.query(
                        Self.counts(table),
                        [.text(tenant.description), .int8(Self.windowMax)])
                    let count = try rows.int8(0, rows.column("count"))
                    let open = try rows.int8(0, rows.column("open"))
                    return ConflictCounts(
                        open: open, reviewed: try rows.int8(0, rows.column("reviewed")),
                        resolved: count - open, hasMore: count >= Self.windowMax,
                        extent: try Self.extent(of: table, in: tenant, on: connection))
                }
            }
        } catch {
            onFault("counting conflicts failed: \(error)")
            throw .unavailable
        }
    }

    /// Sets or deletes the note on a conflict.
    package func review(
        _ first: EventID, _ review: ConflictReview?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<Void, ReviewRefusal> {
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.beginWrite) {
                    try Self.write(review, on: first, in: tenant, connection)
                }
            }
        } catch {
            onFault("writing a note on a conflict failed: \(error)")
            throw .unavailable
        }
    }

    private static func write(
        _ review: ConflictReview?, on first: EventID, in tenant: TenantID, _ connection: Connection
    ) throws -> Result<Void, ReviewRefusal> {
        let name = Parameter.text(tenant.description)
        let table = try ProjectionTables.served(.conflicts, on: connection)
        guard let found = try find(first, of: table, in: tenant, on: connection) else {
            return .failure(.unknownConflict)
        }
        let position = Parameter.int8(found.first.position.value)
        guard let review else {
            _ = try connection.query(delete, [name, position])
            return .success(())
        }
        let parties = Set([found.caller] + (found.holder.map { [$0] } ?? []))
        let known = try connection.query(accounts, [name, .uuids(parties.map(\.bits))])
        guard known.rowCount == parties.count else { return .failure(.accountErased) }
        _ = try connection.query(
            write,
            [
                name, position, .int8(found.last.position.value), .uuid(found.caller.bits),
                found.holder.map { .uuid($0.bits) } ?? .null, .text(review.note),
                .text(review.principal), .timestamp(review.at.microseconds),
            ])
        return .success(())
    }

    /// Finds the conflict whose first attempt is an event, by the time in the event's id.
    private static func find(
        _ first: EventID, of table: ProjectionTable, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Conflict? {
        let rows = try EventReads.rowsOfTime(of: first, in: tenant, on: connection)
        for row in 0..<rows.rowCount {
            let found = try connection.query(
                one(table),
                [
                    .text(tenant.description),
                    .int8(try rows.int8(row, rows.column("position"))), .uuid(first.bits),
                ])
            if found.rowCount == 1 { return try ConflictsTable.read(found, 0) }
        }
        return nil
    }

    private static func reviews(
        of conflicts: [Conflict], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [LogPosition: ConflictReview] {
        guard !conflicts.isEmpty else { return [:] }
        let rows = try connection.query(
            reviews,
            [
                .text(tenant.description), .int8s(conflicts.map(\.first.position.value)),
                .int8s(conflicts.map(\.last.position.value)),
            ])
        var found: [LogPosition: ConflictReview] = [:]
        for row in 0..<rows.rowCount {
            found[LogPosition(try rows.int8(row, rows.column("first_position")))] = ConflictReview(
                note: try rows.text(row, rows.column("note")),
                principal: try rows.text(row, rows.column("principal")),
                at: Timestamp(
                    microseconds: try rows.timestamp(row, rows.column("reviewed_at"))))
        }
        return found
    }

    private static func extent(
        of table: ProjectionTable, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> ConflictExtent {
        let results = try connection.pipeline([
            Call(head, [.text(tenant.description)]), Checkpoints.call(of: table, in: tenant),
        ])
        guard results.count == 2 else { throw .unexpectedResult("no extent") }
        return ConflictExtent(
            foldedSize: try Checkpoints.checkpoint(results[1], of: table)?.position.value ?? 0,
            logSize: try results[0].int8(0, 0))
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
            reviews: try reviews(of: shown, in: tenant, on: connection),
            extent: ConflictExtent(
                foldedSize: try Checkpoints.checkpoint(results[1], of: table)?.position.value ?? 0,
                logSize: try results[0].int8(0, 0)))
    }
}
