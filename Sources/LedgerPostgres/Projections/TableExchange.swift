import Ledger
import Postgres

/// Exchanges the table that a view shows, and drops tables: each in one short transaction.
enum TableExchange {
    /// How long a lock on a view or a table is waited for; who comes after us waits as long.
    private static let lockWait = "SET LOCAL lock_timeout = '50ms'"

    private static let positions = Statement(
        "exchange_positions",
        """
        SELECT h.tenant_id, coalesce(o.position, 0), coalesce(n.position, 0),
            coalesce(n.failure, o.failure), n.failure IS NOT NULL
        FROM ledger_head h
        LEFT JOIN projections o ON o.tenant_id = h.tenant_id AND o.name = $1 AND o.generation = $2
        LEFT JOIN projections n ON n.tenant_id = h.tenant_id AND n.name = $1 AND n.generation = $3
        ORDER BY h.tenant_id
        """)

    private static let hold = Statement(
        "exchange_hold",
        """
        SELECT 1 FROM projections WHERE name = $1 AND generation IN ($2, $3)
        ORDER BY tenant_id, generation FOR UPDATE
        """)

    private static let holdTables = Statement(
        "exchange_hold_tables",
        "SELECT state FROM projection_tables WHERE name = $1 ORDER BY generation FOR UPDATE")

    private static let columns = Statement(
        "exchange_columns",
        """
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_catalog.pg_attribute
        WHERE attrelid = to_regclass($1::text) AND attnum > 0 AND NOT attisdropped
        """)

    /// Where two tables stand for one tenant.
    struct Place: Sendable {
        let tenant: TenantID
        let old: LogPosition
        let new: LogPosition
        let failure: String?
        let newHasFailed: Bool
    }

    static func places(
        _ old: ProjectionTable, _ new: ProjectionTable, on connection: Connection
    ) throws(PostgresError) -> [Place] {
        let result = try connection.query(positions, keys(old, new))
        var places: [Place] = []
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, 0)) else { continue }
            places.append(
                Place(
                    tenant: tenant, old: LogPosition(try result.int8(row, 1)),
                    new: LogPosition(try result.int8(row, 2)),
                    failure: try result.optionalText(row, 3),
                    newHasFailed: try result.bool(row, 4)))
        }
        return places
    }

    /// A tenant whose tables are far apart.
    struct Lag: Sendable {
        let tenant: TenantID
        let table: ProjectionTable
        let reason: String
        let isStopped: Bool
    }

    /// The first tenant whose new table has not come near the old one; nil when all have.
    static func lag(
        _ old: ProjectionTable, _ new: ProjectionTable, on connection: Connection
    ) throws(PostgresError) -> Lag? {
        for place in try places(old, new, on: connection) {
            if let failure = place.failure {
                return Lag(
                    tenant: place.tenant, table: place.newHasFailed ? new : old,
                    reason: "it has stopped at \(failure)", isStopped: true)
            }
            if place.old.value - place.new.value > Int64(LogPage.eventsMax) {
                return Lag(
                    tenant: place.tenant, table: new,
                    reason: "\(place.new) against \(place.old)", isStopped: false)
            }
        }
        return nil
    }

    /// What became of an attempt to exchange.
    enum Outcome: Sendable {
        case done
        /// Some tenant's tables stand at different positions.
        case apart
        /// Something holds the view or a checkpoint.
        case locked
    }

    /// Shows the new table instead of the old one, if both stand at the same positions.
    ///
    /// The locks on the checkpoints keep every projector away until the commit, so readers see one
    /// table or the other at the same position.
    static func exchange(
        _ old: ProjectionTable, _ new: ProjectionTable, on connection: Connection
    ) throws -> Outcome {
        let view = old.projection.rawValue
        do {
            return try connection.transaction {
                try connection.execute(lockWait)
                _ = try connection.pipeline([
                    Call(holdTables, [.text(view)]), Call(hold, keys(old, new)),
                ])
                let areTogether = try places(old, new, on: connection).allSatisfy {
                    $0.old == $0.new && $0.failure == nil
                }
                guard areTogether else { return .apart }
                let columns = try connection.query(columns, [.text(view)]).text(0, 0)
                try connection.execute(
                    """
                    CREATE OR REPLACE VIEW \(view) AS SELECT \(columns) FROM \(new);
                    UPDATE projection_tables SET state = 'ready'
                        WHERE name = '\(view)' AND generation = \(new.generation);
                    UPDATE projection_tables SET state = 'previous'
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

    /// Drops a table with its checkpoints; false when something still reads or folds it.
    @discardableResult
    static func drop(_ table: ProjectionTable, on connection: Connection) throws -> Bool {
        do {
            try connection.transaction {
                try connection.execute(
                    """
                    \(lockWait);
                    DELETE FROM projection_tables
                        WHERE name = '\(table.projection)' AND generation = \(table.generation);
                    DELETE FROM projections
                        WHERE name = '\(table.projection)' AND generation = \(table.generation);
                    DROP TABLE IF EXISTS \(table);
                    """)
            }
            return true
        } catch let error as PostgresError where error.state == .lockNotAvailable {
            return false
        }
    }

    private static func keys(_ old: ProjectionTable, _ new: ProjectionTable) -> [Parameter] {
        [
            .text(old.projection.rawValue), .int4(old.generation), .int4(new.generation),
        ]
    }
}
