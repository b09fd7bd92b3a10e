import Ledger
import LedgerEngine
import Postgres

/// Creates the next table of a projection and fills it, until projectors take over.
enum TableCreation {
    /// The tables that a rebuild finds.
    struct Tables: Sendable {
        let served: ProjectionTable
        /// A table that an earlier rebuild finished loading but did not serve.
        var ready: ProjectionTable?
        /// Useless tables of earlier rebuilds.
        var leftovers: [ProjectionTable] = []
    }

    private static let key = Statement(
        "rebuild_key",
        """
        SELECT pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint
        WHERE conrelid = to_regclass($1::text) AND contype = 'p'
        """)

    private static let loaded = Statement(
        "rebuild_loaded",
        """
        INSERT INTO projections (tenant_id, name, generation, version, position)
        VALUES ($1, $2, $3, $4, $5)
        """)

    /// Finds the tables of a projection; a ready one can be resumed with.
    ///
    /// - Throws: `OnlineRebuildFault.previousIsKept`.
    static func find(_ projection: ProjectionName, on connection: Connection) throws -> Tables {
        let tables = try ProjectionTables.all(on: connection)
            .filter { $0.table.projection == projection }
        if let previous = tables.first(where: { $0.state == .previous }) {
            throw OnlineRebuildFault.previousIsKept(previous.table)
        }
        guard let served = tables.first(where: { $0.state == .served })?.table else {
            throw PostgresError.unexpectedResult("\(projection) has no served table")
        }
        var found = Tables(served: served)
        for (table, state) in tables where state != .served {
            if state == .ready, table.version == projection.version {
                found.ready = table
            } else {
                found.leftovers.append(table)
            }
        }
        return found
    }

    /// Creates the next table, with the primary key and the grants of the live one and no other index.
    ///
    /// An erasure finds an account's rows by the key, however far the table has been loaded. On Citus the table is
    /// distributed before its first row, so that nothing of a tenant is outside its shards.
    static func make(
        _ projection: ProjectionName, beside old: ProjectionTable, under lease: RebuildLease,
        on connection: Connection
    ) throws -> ProjectionTable {
        let new = ProjectionTable(
            projection: projection, generation: old.generation + 1, version: projection.version)
        let storage = projection == .userProviders ? " WITH (fillfactor = 90)" : ""
        let key = try connection.query(key, [.text(old.description)]).text(0, 0)
        let engine = try DatabaseEngine(of: connection)
        try lease.write(on: connection) { () throws(PostgresError) in
            try connection.execute(
                """
                CREATE TABLE \(new) (LIKE \(old) INCLUDING DEFAULTS)\(storage);
                ALTER TABLE \(new) ADD CONSTRAINT \(new)_pkey \(key);
                \(projection.withoutStatistics(in: new.description));
                DO $grant$
                DECLARE
                    held record;
                BEGIN
                    FOR held IN SELECT a.grantee, a.privilege_type
                        FROM pg_class c, aclexplode(c.relacl) a
                        WHERE c.oid = 'public.\(old)'::regclass AND a.grantee <> c.relowner
                    LOOP
                        EXECUTE format('GRANT %s ON \(new) TO %s', held.privilege_type,
                            CASE held.grantee WHEN 0 THEN 'PUBLIC'
                                ELSE held.grantee::regrole::text END);
                    END LOOP;
                    FOR held IN SELECT a.grantee, a.privilege_type,
                            string_agg(quote_ident(t.attname), ', ') AS columns
                        FROM pg_attribute t, aclexplode(t.attacl) a
                        WHERE t.attrelid = 'public.\(old)'::regclass
                        GROUP BY a.grantee, a.privilege_type
                    LOOP
                        EXECUTE format('GRANT %s (%s) ON \(new) TO %s', held.privilege_type,
                            held.columns, CASE held.grantee WHEN 0 THEN 'PUBLIC'
                                ELSE held.grantee::regrole::text END);
                    END LOOP;
                END
                $grant$;
                """)
            // On every shard with the key and the grants of the table as they are now.
            if engine == .citus {
                _ = try connection.query(
                    DatabaseEngine.distributeTable,
                    [.text(new.description), .text("tenant_id"), .text("ledger_head")])
            }
            try connection.execute(
                """
                INSERT INTO projection_tables (name, generation, version, state)
                VALUES ('\(projection)', \(new.generation), \(new.version), 'building');
                """)
        }
        return new
    }

    /// Loads every tenant's log up to the live table's checkpoint, with its own checkpoint.
    ///
    /// - Throws: `OnlineRebuildFault.unfoldable` when it can't reach the live table's position.
    static func load(
        _ new: ProjectionTable, beside old: ProjectionTable, under lease: RebuildLease,
        with disclosures: DisclosureReader, on connection: Connection
    ) throws {
        for (tenant, head) in try AllTenants.servedHeads(on: connection) {
            let checkpoints = try connection.pipeline([
                Checkpoints.call([old], of: tenant, .none)
            ])
            let reached =
                try checkpoints.first.flatMap { result throws(PostgresError) in
                    try Checkpoints.checkpoints(result, of: [old]).first?.position
                } ?? LogPosition(0)
            var load = BulkLoad(
                new.projection, into: new.description, hasKey: true, under: lease, of: tenant,
                with: disclosures)
            // When the live table has an unknown fold version, the target is the head.
            let damage = try load.advance(to: old.isKnown ? reached : head, on: connection)
            if let damage, damage.position < reached {
                throw OnlineRebuildFault.unfoldable(tenant, damage)
            }
            let checkpoint: [Parameter] = [
                .text(tenant.description), .text(new.projection.rawValue), .int4(new.generation),
                .int4(new.version), .int8(load.position.value),
            ]
            _ = try lease.write(on: connection) { () throws(PostgresError) in
                try connection.query(loaded, checkpoint)
            }
        }
    }

    /// Creates the new table's other indexes, and analyzes it.
    static func index(
        _ new: ProjectionTable, under lease: RebuildLease, on connection: Connection
    ) throws {
        let indexes = new.projection.indexes.map { index in
            "CREATE INDEX \(new)_\(index.name) ON \(new) (\(index.columns))"
                + (index.rows.map { " WHERE \($0)" } ?? "")
        }
        let searched =
            new.projection == .userProviders ? SearchedEmail.index(on: new.description) : []
        try lease.write(on: connection) { () throws(PostgresError) in
            // One by one: Citus sends the whole text of some to every node.
            for statement in searched + indexes { try connection.execute(statement) }
        }
        // In a transaction of its own, so that it knows the columns without statistics.
        try connection.execute("ANALYZE \(new)")
    }

    /// Marks the table ready, so that every projector folds into it.
    static func markReady(
        _ new: ProjectionTable, under lease: RebuildLease, on connection: Connection
    ) throws {
        try lease.write(on: connection) { () throws(PostgresError) in
            try connection.execute(
                """
                UPDATE projection_tables SET state = 'ready'
                WHERE name = '\(new.projection)' AND generation = \(new.generation)
                """)
        }
    }
}
