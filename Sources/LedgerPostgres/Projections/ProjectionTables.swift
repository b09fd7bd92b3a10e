import Ledger
package import LedgerEngine
package import Postgres

/// The rows of `projection_tables`: the tables that each projection is folded into.
package enum ProjectionTables {
    /// The state of a table; the raw values are stored.
    package enum State: String, Sendable {
        /// Being loaded by a rebuild; no projector folds into it.
        case building
        /// Loaded and folded into, but not served.
        case ready
        /// Served by the view.
        case served
        /// Served by the view before.
        case previous
    }

    private static let all = Statement(
        "projection_tables",
        "SELECT name, generation, version, state FROM projection_tables ORDER BY name, generation")

    /// Returns every table with its state, ordered by name and generation.
    static func all(
        on connection: Connection
    ) throws(PostgresError) -> [(table: ProjectionTable, state: State)] {
        let result = try connection.query(all)
        var found: [(table: ProjectionTable, state: State)] = []
        for row in 0..<result.rowCount {
            // A projection that only another program version knows is not folded or checked here.
            guard let table = try table(result, row) else { continue }
            guard let state = State(rawValue: try result.text(row, result.column("state"))) else {
                throw .unexpectedResult("a row of projection_tables has an unknown state")
            }
            found.append((table: table, state: state))
        }
        return found
    }

    /// Returns the tables that projectors fold into, which are those that `verify` checks.
    package static func live(
        on connection: Connection
    ) throws(PostgresError) -> [(table: ProjectionTable, state: State)] {
        try all(on: connection).filter { $0.state != .building }
    }

    /// Returns the table that a projection's view serves.
    static func served(
        _ projection: ProjectionName, on connection: Connection
    ) throws(PostgresError) -> ProjectionTable {
        let found = try all(on: connection).first {
            $0.table.projection == projection && $0.state == .served
        }
        guard let found else { throw .unexpectedResult("\(projection) has no served table") }
        return found.table
    }

    /// Reads `name`, `generation` and `version`; returns nil for an unknown name.
    static func table(
        _ result: QueryResult, _ row: Int
    ) throws(PostgresError) -> ProjectionTable? {
        guard let projection = ProjectionName(rawValue: try result.text(row, result.column("name")))
        else {
            return nil
        }
        return ProjectionTable(
            projection: projection, generation: try result.int4(row, result.column("generation")),
            version: try result.int4(row, result.column("version")))
    }
}
