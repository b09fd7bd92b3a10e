import Ledger
import Postgres

/// The rows of `projection_tables`: which tables each projection is folded into.
package enum ProjectionTables {
    /// What a table is there for; the raw values are stored.
    package enum State: String, Sendable {
        /// Being loaded by a rebuild; nobody else folds into it.
        case building
        /// Loaded and folded into, shown to nobody.
        case ready
        /// What the view shows.
        case served
        /// What the view showed before.
        case previous
    }

    private static let all = Statement(
        "projection_tables",
        "SELECT name, generation, version, state FROM projection_tables ORDER BY name, generation")

    /// Every table that exists, in the order of names and generations, with its state.
    static func all(
        on connection: Connection
    ) throws(PostgresError) -> [(table: ProjectionTable, state: State)] {
        let result = try connection.query(all)
        var found: [(table: ProjectionTable, state: State)] = []
        for row in 0..<result.rowCount {
            // A projection of another program's is not this one's to fold or to judge.
            guard let table = try table(result, row, column: 0) else { continue }
            guard let state = State(rawValue: try result.text(row, 3)) else {
                throw .unexpectedResult("a row of projection_tables has an unknown state")
            }
            found.append((table: table, state: state))
        }
        return found
    }

    /// The tables that projectors fold into: what `verify` has to check.
    static func live(
        on connection: Connection
    ) throws(PostgresError) -> [(table: ProjectionTable, state: State)] {
        try all(on: connection).filter { $0.state != .building }
    }

    /// The table that a projection's view shows.
    static func served(
        _ projection: ProjectionName, on connection: Connection
    ) throws(PostgresError) -> ProjectionTable {
        let found = try all(on: connection).first {
            $0.table.projection == projection && $0.state == .served
        }
        guard let found else { throw .unexpectedResult("\(projection) has no served table") }
        return found.table
    }

    /// Reads name, generation and version from neighbouring columns; nil for an unknown name.
    static func table(
        _ result: QueryResult, _ row: Int, column: Int
    ) throws(PostgresError) -> ProjectionTable? {
        guard let projection = ProjectionName(rawValue: try result.text(row, column)) else {
            return nil
        }
        return ProjectionTable(
            projection: projection, generation: try result.int4(row, column + 1),
            version: try result.int4(row, column + 2))
    }
}
