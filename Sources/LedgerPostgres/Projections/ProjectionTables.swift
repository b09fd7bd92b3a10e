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
        /// Read by servers and tools, and by the view.
        case served
        /// Served before.
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

    private static let served = Statement(
        "served_table",
        """
        SELECT name, generation, version FROM projection_tables
        WHERE name = $1 AND state = 'served'
        """)

    /// Returns the table of a projection that readers read, by its name.
    ///
    /// The views of the same names are for people. A snapshot older than an exchange would find no row through
    /// them, whereas the table that it looks up here is complete in it.
    package static func served(
        _ projection: ProjectionName, on connection: Connection
    ) throws(PostgresError) -> ProjectionTable {
        try served(try connection.query(served, [.text(projection.rawValue)]))
    }

    /// Reads the name, generation and version of a served table.
    static func served(_ result: QueryResult) throws(PostgresError) -> ProjectionTable {
        guard result.rowCount == 1, let table = try table(result, 0) else {
            throw .unexpectedResult("a projection has no served table")
        }
        return table
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

extension Connection {
    /// Runs a read-only transaction that looks up served tables; once more if one was dropped before it was
    /// read.
    ///
    /// - Throws: As ``Connection/transaction(_:_:)``.
    package func readingServedTables<Value>(
        _ begin: Statement, _ body: () throws -> Value
    ) throws -> Value {
        do {
            return try transaction(begin, body)
        } catch let error as PostgresError where error.state == .undefinedTable {
            return try transaction(begin, body)
        }
    }
}
