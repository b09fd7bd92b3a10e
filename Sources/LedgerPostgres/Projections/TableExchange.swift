import Ledger
import LedgerEngine
import Postgres

/// Exchanges the table that a view serves, and drops tables: each in one short transaction.
enum TableExchange {
    /// The maximum wait for a lock on a view or a table; later lock requests queue behind it as long.
    private static let lockWait = "SET LOCAL lock_timeout = '50ms'"

    private static let deleteCheckpoint = Statement(
        "delete_checkpoint",
        "DELETE FROM projections WHERE tenant_id = $1 AND name = $2 AND generation = $3")

    private static let holdTables = Statement(
        "exchange_hold_tables",
        "SELECT state FROM projection_tables WHERE name = $1 ORDER BY generation FOR UPDATE")

    private static let columns = Statement(
        "exchange_columns",
        """
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_catalog.pg_attribute
        WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped
        """)

    /// Returns the positions of two tables for each tenant.
    static func positions(
        _ old: ProjectionTable, _ new: ProjectionTable, on connection: Connection
    ) throws(PostgresError) -> [TablePositions] {
        let result = try connection.query(AllTenants.tablePositions, keys(old, new))
        var positions: [TablePositions] = []
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                continue
            }
            positions.append(
                TablePositions(
                    tenant: tenant,
                    old: LogPosition(try result.int8(row, result.column("old_position"))),
                    oldFailure: try result.optionalText(row, result.column("old_failure")),
                    new: LogPosition(try result.int8(row, result.column("new_position"))),
                    newFailure: try result.optionalText(row, result.column("new_failure"))))
        }
        return positions
    }

    /// Returns what prevents the new table from being served, permanent reasons first; nil when it is within
    /// a page.
    static func lag(
        _ old: ProjectionTable, _ new: ProjectionTable, on connection: Connection
    ) throws(PostgresError) -> TablePositions.Lag? {
        let lags = try positions(old, new, on: connection).compactMap { $0.lag }
        return lags.first { $0.isPermanent } ?? lags.first
    }

    /// The outcome of an attempt to exchange.
    enum Outcome: Sendable {
        case done
        /// The new table of a tenant is behind the old one or less complete.
        case behind
        /// The view or a checkpoint is locked.
        case locked
    }

    /// Serves the new table instead of the old one, if for every tenant it is at least as far and as
    /// complete.
    ///
    /// The locks on the checkpoints block every projector until the commit, so readers never see an earlier
    /// state. The rebuild is then over, and so is its lease.
    static func exchange(
        _ old: ProjectionTable, _ new: ProjectionTable, under lease: RebuildLease,
        on connection: Connection
    ) throws -> Outcome {
        let view = old.projection.rawValue
        do {
            return try connection.transaction {
                try connection.execute(lockWait)
                try lease.hold(on: connection)
                _ = try connection.pipeline(
                    [Call(holdTables, [.text(view)])]
                        + positions(old, new, on: connection).map {
                            Checkpoints.call([old, new], of: $0.tenant, .wait)
                        })
                let canReplace = try positions(old, new, on: connection).allSatisfy {
                    $0.canReplace
                }
                guard canReplace else { return .behind }
                let columns = try connection.query(columns, [.text(view)]).text(0, 0)
                try connection.execute(
                    """
                    CREATE OR REPLACE VIEW \(view) AS SELECT \(columns) FROM \(new);
                    UPDATE projection_tables SET state = 'ready'
                        WHERE name = '\(view)' AND generation = \(new.generation);
                    UPDATE projection_tables
                        SET state = 'previous', builder = NULL, builder_until = NULL
                        WHERE name = '\(view)' AND generation = \(old.generation);
                    UPDATE projection_tables SET state = 'served'
                        WHERE name = '\(view)' AND generation = \(new.generation);
                    """)
                return .done
            }
        } catch let error as PostgresError where error.state == .lockNotAvailable {
            return .locked
        }
    }

    /// Retires a table that is not served; returns false when its row is locked.
    ///
    /// No projector folds into it and no rebuild resumes with it; the next rebuild, or `migrate`, drops it.
    static func retire(
        _ table: ProjectionTable, under lease: RebuildLease, on connection: Connection
    ) throws -> Bool {
        try withoutWaiting(under: lease, on: connection) { () throws(PostgresError) in
            try connection.execute(
                """
                UPDATE projection_tables SET state = 'building'
                    WHERE name = '\(table.projection)' AND generation = \(table.generation);
                """)
        }
    }

    /// Drops a table with its checkpoints; returns false while the table is read or folded into.
    static func drop(
        _ table: ProjectionTable, under lease: RebuildLease, on connection: Connection
    ) throws -> Bool {
        let key: [Parameter] = [.text(table.projection.rawValue), .int4(table.generation)]
        return try withoutWaiting(under: lease, on: connection) { () throws(PostgresError) in
            try connection.execute(
                """
                DELETE FROM projection_tables
                    WHERE name = '\(table.projection)' AND generation = \(table.generation)
                """)
            let tenants = try connection.query(AllTenants.withCheckpoint, key)
            var calls: [Call] = []
            for row in 0..<tenants.rowCount {
                calls.append(Call(deleteCheckpoint, [.text(try tenants.text(row, 0))] + key))
            }
            _ = try connection.pipeline(calls)
            try connection.execute("DROP TABLE IF EXISTS \(table)")
        }
    }

    /// Writes in one transaction; returns false, with nothing changed, when a lock is not available at once.
    private static func withoutWaiting(
        under lease: RebuildLease, on connection: Connection,
        _ body: () throws(PostgresError) -> Void
    ) throws -> Bool {
        do throws(PostgresError) {
            try lease.write(on: connection) { () throws(PostgresError) in
                try connection.execute(lockWait)
                try body()
            }
            return true
        } catch {
            guard error.state == .lockNotAvailable else { throw error }
            return false
        }
    }

    private static func keys(_ old: ProjectionTable, _ new: ProjectionTable) -> [Parameter] {
        [
            .text(old.projection.rawValue), .int4(old.generation), .int4(new.generation),
        ]
    }
}
