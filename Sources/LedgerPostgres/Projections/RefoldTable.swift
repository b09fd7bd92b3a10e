import Ledger
import LedgerEngine
import Postgres

/// A temporary table of a read model's shape, with the statements that compare and repair the live one.
struct RefoldTable {
    let name: String
    private let live: String
    /// The live rows that are compared: on Citus a copy, because one statement cannot join what is on two nodes.
    private let compared: String
    private let engine: DatabaseEngine
    /// The columns of the primary key after the tenant.
    private let key: [String]
    /// The column that holds the account of a row.
    private let account: String
    private let position: String
    private let projection: ProjectionName

    init(_ table: ProjectionTable, on engine: DatabaseEngine) {
        live = table.description
        self.engine = engine
        compared = engine == .citus ? "pg_temp.live_\(live)" : live
        // Qualified, so that a table with this name in another schema is never used.
        name = "pg_temp.refold_\(live)"
        projection = table.projection
        switch table.projection {
        case .userProviders:
            key = ["user_id", "identity_id"]
            position = "linked_position"
        case .accountAudit:
            key = ["account_id", "account_seq"]
            position = "position"
        case .conflicts:
            key = ["first_position"]
            position = "first_position"
        }
        account = table.projection.accountColumn
    }

    /// The statement that creates the table.
    var creation: String {
        (engine == .citus ? [name, compared] : [name]).map { table in
            """
            CREATE TEMPORARY TABLE IF NOT EXISTS \(table) (LIKE \(live) INCLUDING DEFAULTS);
            TRUNCATE \(table);
            \(projection.withoutStatistics(in: table));
            """
        }.joined(separator: "\n")
    }

    private var copy: Statement {
        Statement(
            "\(compared)_copy",
            "INSERT INTO \(compared) SELECT * FROM \(live) WHERE tenant_id = $1")
    }

    private var sameKey: String {
        key.map { "r.\($0) = l.\($0)" }.joined(separator: " AND ")
    }

    private var bothSides: String {
        """
        FROM (SELECT * FROM \(name) WHERE tenant_id = $1) r
        FULL JOIN (SELECT * FROM \(compared) WHERE tenant_id = $1) l ON \(sameKey)
        WHERE r IS DISTINCT FROM l
        """
    }

    private var count: Statement {
        Statement(
            "\(name)_count",
            """
            SELECT count(*) FILTER (WHERE l.tenant_id IS NULL) AS missing,
                count(*) FILTER (WHERE r.tenant_id IS NULL) AS surplus, count(*) AS differing
            \(bothSides)
            """)
    }

    private var first: Statement {
        Statement(
            "\(name)_first",
            """
            SELECT CASE WHEN l.tenant_id IS NULL THEN 'missing'
                    WHEN r.tenant_id IS NULL THEN 'surplus' ELSE 'different' END AS kind,
                coalesce(r.\(position), l.\(position)) AS position,
                coalesce(r.\(account), l.\(account)) AS account_id,
                (SELECT coalesce(string_agg(a.key, ', ' ORDER BY a.key), '')
                 FROM jsonb_each(to_jsonb(r)) a JOIN jsonb_each(to_jsonb(l)) b ON b.key = a.key
                 WHERE a.value IS DISTINCT FROM b.value) AS columns
            \(bothSides)
            ORDER BY 2, 3 LIMIT 1
            """)
    }

    private var deleteWrong: Statement {
        guard engine == .postgres else { return deleteWrongOnCitus }
        return Statement(
            "\(name)_delete_wrong",
            """
            DELETE FROM \(live) l WHERE l.tenant_id = $1
                AND NOT EXISTS (SELECT 1 FROM \(name) r
                    WHERE r.tenant_id = $1 AND \(sameKey) AND r IS NOT DISTINCT FROM l)
            """)
    }

    private var deleteWrongOnCitus: Statement {
        Statement(
            "\(name)_delete_wrong",
            """
            WITH wrong AS MATERIALIZED (
                SELECT \(key.map { "l.\($0)" }.joined(separator: ", "))
                FROM \(compared) l WHERE l.tenant_id = $1
                    AND NOT EXISTS (SELECT 1 FROM \(name) r
                        WHERE r.tenant_id = $1 AND \(sameKey) AND r IS NOT DISTINCT FROM l))
            DELETE FROM \(live) l USING wrong r WHERE l.tenant_id = $1 AND \(sameKey)
            """)
    }

    private var insertMissing: Statement {
        // The copy still has the rows that were deleted.
        let isSame = sameKey + (engine == .citus ? " AND r IS NOT DISTINCT FROM l" : "")
        let columns = projection.table.columns.map(\.name).filter { $0 != "tenant_id" }
        let values = columns.map { "r.\($0)" }.joined(separator: ", ")
        return Statement(
            "\(name)_insert_missing",
            """
            INSERT INTO \(live) (tenant_id, \(columns.joined(separator: ", ")))
            SELECT $1, \(values) FROM \(name) r
            WHERE r.tenant_id = $1 AND NOT EXISTS (SELECT 1 FROM \(compared) l WHERE l.tenant_id = $1 AND \(isSame))
            """)
    }

    /// Compares the live rows of a tenant with the refolded ones and makes them equal.
    ///
    /// - Precondition: the checkpoint's row is locked and both tables are at the same position.
    func repair(
        _ report: inout RebuildReport, on connection: Connection
    ) throws(PostgresError) {
        let tenant = Parameter.text(report.tenant.description)
        if engine == .citus { _ = try connection.query(copy, [tenant]) }
        let counts = try connection.query(count, [tenant])
        report.missing = try counts.int8(0, counts.column("missing"))
        report.surplus = try counts.int8(0, counts.column("surplus"))
        report.different =
            try counts.int8(0, counts.column("differing")) - report.missing - report.surplus
        guard report.differences > 0 else { return }
        let row = try connection.query(first, [tenant])
        guard row.rowCount == 1,
            let kind = RebuildReport.Difference.Kind(rawValue: try row.text(0, row.column("kind")))
        else { throw .unexpectedResult("the first difference disappeared") }
        report.first = RebuildReport.Difference(
            kind: kind, position: LogPosition(try row.int8(0, row.column("position"))),
            account: AccountID(bits: try row.uuid(0, row.column("account_id"))),
            columns: try row.text(0, row.column("columns")))
        _ = try connection.pipeline([Call(deleteWrong, [tenant]), Call(insertMissing, [tenant])])
    }
}
