import Ledger
import LedgerEngine
import Postgres

/// The personal data of an erased account in the tables of the read models.
///
/// A table that has folded the erasure holds no personal data. A table that has stopped or is
/// behind may hold some, and so may one left by an aborted rebuild. Rows are kept and personal
/// columns become null, because a fold that continues expects its rows.
struct ReadModelErasure {
    let tenant: TenantID
    let account: AccountID
    let limits: ErasureLimits

    private struct Target {
        let table: ProjectionTable
        let isBuilding: Bool
        /// Whether no more personal data of the account will be written to the table.
        let isSettled: Bool
    }

    // A rebuild that writes has the lease in the row of the served table.
    private static let isLeased = """
        EXISTS (SELECT FROM projection_tables s
            WHERE s.name = t.name AND s.state = 'served' AND s.builder IS NOT NULL)
        """

    // A projector may still fold into a table that a rebuild took out of use: until then it holds the
    // checkpoint, and without one no fold begins.
    private static let endFolds = Statement(
        "erasure_end_folds",
        """
        DELETE FROM projections p USING projection_tables t
        WHERE p.tenant_id = $1 AND p.name = t.name AND p.generation = t.generation
            AND t.state = 'building' AND NOT \(isLeased)
        """)

    private static let tables = Statement(
        "erasure_tables",
        """
        SELECT t.name, t.generation, t.version, t.state = 'building' AS is_building,
            CASE WHEN t.state = 'building' THEN p.position IS NULL AND NOT \(isLeased)
            ELSE coalesce(p.position > $2::bigint OR p.failure IS NOT NULL, false)
            END AS is_settled
        FROM projection_tables t
        LEFT JOIN projections p
            ON p.tenant_id = $1 AND p.name = t.name AND p.generation = t.generation
        ORDER BY t.name, t.generation
        """)

    /// Deletes the data; returns false while a table is still being filled or folded.
    ///
    /// `position` is that of the `AccountErased`, `sequences` the number of the account's events; a
    /// patient run waits for a table that is behind.
    func run(
        position: Int64, sequences: Int64, isPatient: Bool, on connection: Connection
    ) throws(PostgresError) -> Bool {
        let targets = try targets(position, on: connection)
        guard targets.allSatisfy({ $0.isSettled || (!$0.isBuilding && !isPatient) }) else {
            return false
        }
        for target in targets {
            do throws(PostgresError) {
                try forget(in: target.table, sequences: sequences, on: connection)
            } catch {
                // Dropped since it was listed.
                guard error.state == .undefinedTable else { throw error }
            }
        }
        return true
    }

    private func targets(
        _ position: Int64, on connection: Connection
    ) throws(PostgresError) -> [Target] {
        let results = try connection.pipeline([
            RebuildLease.endLapsedCall, Call(Self.endFolds, [.text(tenant.description)]),
            Call(Self.tables, [.text(tenant.description), .int8(position)]),
        ])
        let rows = results[2]
        var targets: [Target] = []
        for row in 0..<rows.rowCount {
            guard let table = try ProjectionTables.table(rows, row),
                !table.projection.personalColumns.isEmpty
            else { continue }
            targets.append(
                Target(
                    table: table, isBuilding: try rows.bool(row, rows.column("is_building")),
                    isSettled: try rows.bool(row, rows.column("is_settled"))))
        }
        return targets
    }

    // By the primary key of every table; one without it, which an earlier release left half built, is scanned.
    private func forget(
        in table: ProjectionTable, sequences: Int64, on connection: Connection
    ) throws(PostgresError) {
        if table.projection == .accountAudit {
            for first in stride(from: 0, to: sequences, by: Int(limits.events)) {
                _ = try connection.query(
                    withoutStatistics(
                        in: table, "events",
                        "account_seq >= $3::bigint AND account_seq < $4::bigint"),
                    key + [.int8(first), .int8(first + limits.events)])
            }
        } else {
            _ = try connection.query(withoutStatistics(in: table, "rows", "true"), key)
        }
    }

    private func withoutStatistics(
        in table: ProjectionTable, _ part: String, _ condition: String
    ) -> Statement {
        let columns = table.projection.personalColumns
        return Statement(
            "\(table)_forget_\(part)",
            """
            UPDATE \(table) SET \(columns.map { "\($0) = NULL" }.joined(separator: ", "))
            WHERE tenant_id = $1 AND \(table.projection.accountColumn) = $2::uuid AND \(condition)
                AND (\(columns.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")))
            """)
    }

    private var key: [Parameter] { [.text(tenant.description), .uuid(account.bits)] }
}
