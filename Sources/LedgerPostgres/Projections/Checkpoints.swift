package import Ledger
package import LedgerEngine
package import Postgres

/// The statements over `projections`: the checkpoint of each table of each tenant.
package enum Checkpoints {
    // The table may have been dropped or taken out of use meanwhile; its checkpoints must not come back.
    private static let make = making("FOR KEY SHARE OF t")
    // Locks of reference tables are locks of all their copies, and two servers would wait for each other.
    private static let makeOnCitus = making("")

    private static func making(_ locking: String) -> Statement {
        Statement(
            "make_projections",
            """
            INSERT INTO projections (tenant_id, name, generation, version)
            SELECT $1, t.name, t.generation, t.version
            FROM unnest($2::text[], $3::int[]) AS n (name, generation)
            JOIN projection_tables t
                ON t.name = n.name AND t.generation = n.generation AND t.state <> 'building'
            \(locking)
            ON CONFLICT DO NOTHING
            """)
    }

    private static func locking(_ name: String, _ how: String) -> Statement {
        Statement(
            name,
            """
            SELECT p.name, p.generation, p.position, p.version, p.failure, p.updated_at
            FROM projections p
            WHERE p.tenant_id = $1 AND (p.name, p.generation) IN
                (SELECT * FROM unnest($2::text[], $3::int[]))
            ORDER BY p.name, p.generation \(how)
            """)
    }

    // A row locked by another process is skipped: that process does the work.
    private static let lease = locking("lease_projections", "FOR UPDATE OF p SKIP LOCKED")
    private static let lock = locking("lock_projections", "FOR UPDATE OF p")
    private static let read = locking("read_projections", "")

    private static let moves = ArrayRows.sql(
        [
            "name": "text", "generation": "int", "position": "bigint", "version": "int",
            "failure": "text",
        ], from: 2)

    private static let move = Statement(
        "move_projections",
        """
        WITH written AS (
            UPDATE projections p
            SET position = n.position, version = n.version, failure = n.failure,
                updated_at = statement_timestamp()
            FROM \(moves) AS n
            WHERE p.tenant_id = $1 AND p.name = n.name AND p.generation = n.generation
            RETURNING 1)
        SELECT ledger_expect(count(*), $7::bigint, 'projections'), statement_timestamp() AS written_at
        FROM written
        """)

    private static let clearFailures = Statement(
        "clear_projection_failures",
        """
        UPDATE projections p SET failure = NULL, updated_at = statement_timestamp()
        FROM projection_tables t
        WHERE p.tenant_id = $1 AND p.name = t.name AND p.generation = t.generation
            AND p.version = t.version AND p.failure IS NOT NULL
        """)

    /// Returns the tables of some projections that are behind the log, by tenant, for all tenants or some of them,
    /// and creates missing checkpoints.
    static func backlogs(
        of projections: Set<ProjectionName>, in tenants: [TenantID]? = nil,
        on connection: Connection
    ) throws(PostgresError) -> [ProjectionBacklog] {
        let names = Parameter.texts(projections.map(\.rawValue).sorted())
        let result =
            if let tenants {
                try connection.query(
                    AllTenants.projectionsBehindOfSome,
                    [names, .texts(tenants.map(\.description))])
            } else {
                try connection.query(AllTenants.projectionsBehind, [names])
            }
        var backlogs: [ProjectionBacklog] = []
        var new: [(tenant: TenantID, table: ProjectionTable)] = []
        var tables: [ProjectionBacklog.Behind] = []
        var current: TenantID?
        func close() {
            if let current, !tables.isEmpty {
                backlogs.append(ProjectionBacklog(tenant: current, tables: tables))
            }
            tables = []
        }
        for row in 0..<result.rowCount {
            // `verify` reports a head with an invalid tenant; it concerns no one else.
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))),
                let table = try ProjectionTables.table(result, row), table.isKnown
            else { continue }
            if tenant != current { close() }
            current = tenant
            let position = try result.optionalInt8(row, result.column("position"))
            if position == nil { new.append((tenant: tenant, table: table)) }
            let reached = LogPosition(position ?? 0)
            if reached < LogPosition(try result.int8(row, result.column("next_position"))) {
                tables.append(ProjectionBacklog.Behind(table: table, position: reached))
            }
        }
        close()
        try make(new, on: connection)
        return backlogs
    }

    /// Creates the first checkpoint, 0, of tables that have none.
    static func make(
        _ new: [(tenant: TenantID, table: ProjectionTable)], on connection: Connection
    ) throws(PostgresError) {
        let tables = Dictionary(grouping: new, by: \.tenant).mapValues { $0.map(\.table) }
        guard !tables.isEmpty else { return }
        let statement = try DatabaseEngine(of: connection) == .citus ? makeOnCitus : make
        _ = try connection.pipeline(
            tables.sorted { $0.key < $1.key }.map { tenant, tables in
                Call(
                    statement,
                    [
                        .text(tenant.description), .texts(tables.map(\.projection.rawValue)),
                        .int4s(tables.map(\.generation)),
                    ])
            })
    }

    static func clearFailures(on connection: Connection) throws(PostgresError) {
        let tenants = try connection.query(AllTenants.stoppedProjections)
        var calls: [Call] = []
        for row in 0..<tenants.rowCount {
            calls.append(Call(clearFailures, [.text(try tenants.text(row, 0))]))
        }
        _ = try connection.pipeline(calls)
    }

    /// How to treat checkpoints that another transaction has locked.
    enum Locking {
        case skip, wait, none

        fileprivate var statement: Statement {
            switch self {
            case .skip: Checkpoints.lease
            case .wait: Checkpoints.lock
            case .none: Checkpoints.read
            }
        }
    }

    /// Returns the call that locks and reads checkpoints of a tenant.
    static func call(
        _ tables: [ProjectionTable], of tenant: TenantID, _ locking: Locking
    ) -> Call {
        Call(
            locking.statement,
            [
                .text(tenant.description), .texts(tables.map(\.projection.rawValue)),
                .int4s(tables.map(\.generation)),
            ])
    }

    /// Returns the call that reads one checkpoint, for ``checkpoint(_:of:)``.
    package static func call(of table: ProjectionTable, in tenant: TenantID) -> Call {
        call([table], of: tenant, .none)
    }

    /// Reads the result of ``call(of:in:)``; nil without a checkpoint.
    package static func checkpoint(
        _ result: QueryResult, of table: ProjectionTable
    ) throws(PostgresError) -> Checkpoint? {
        try checkpoints(result, of: [table]).first
    }

    /// A checkpoint as it was read.
    package struct Checkpoint {
        package let table: ProjectionTable
        /// The next position to fold.
        package let position: LogPosition
        let version: Int32
        /// The damage at which folding stopped; nil while it goes on.
        let failure: String?
        let marker: AccountStateCache.Marker
    }

    /// Reads the requested checkpoints that exist and were not skipped.
    static func checkpoints(
        _ result: QueryResult, of tables: [ProjectionTable]
    ) throws(PostgresError) -> [Checkpoint] {
        var found: [Checkpoint] = []
        for row in 0..<result.rowCount {
            let name = try result.text(row, result.column("name"))
            let generation = try result.int4(row, result.column("generation"))
            let table = tables.first {
                $0.projection.rawValue == name && $0.generation == generation
            }
            guard let table else { continue }
            let position = LogPosition(try result.int8(row, result.column("position")))
            found.append(
                Checkpoint(
                    table: table, position: position,
                    version: try result.int4(row, result.column("version")),
                    failure: try result.optionalText(row, result.column("failure")),
                    marker: AccountStateCache.Marker(
                        position: position,
                        writtenAt: try result.timestamp(row, result.column("updated_at")))))
        }
        return found
    }

    /// Moves locked checkpoints; the result holds the time of the write, see ``marker(_:of:)``.
    static func moveCall(_ steps: [ProjectionStep], of tenant: TenantID) -> Call {
        Call(
            move,
            [
                .text(tenant.description), .texts(steps.map(\.table.projection.rawValue)),
                .int4s(steps.map(\.table.generation)), .int8s(steps.map(\.position.value)),
                .int4s(steps.map(\.table.version)), .optionalTexts(steps.map(\.failure)),
                .int8(Int64(steps.count)),
            ])
    }

    /// Returns the marker of a checkpoint that was moved.
    static func marker(
        _ result: QueryResult, of step: ProjectionStep
    ) throws(PostgresError) -> AccountStateCache.Marker {
        AccountStateCache.Marker(
            position: step.position, writtenAt: try result.timestamp(0, result.column("written_at"))
        )
    }
}
