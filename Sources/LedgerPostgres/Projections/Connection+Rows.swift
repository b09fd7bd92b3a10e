import Postgres

extension Connection {
    /// The number of rows that are inserted one by one on Citus: more are copied faster.
    private static let insertedMax = 4

    /// Writes rows by a COPY; on Citus few of them as values.
    ///
    /// Citus commits a transaction that has copied rows in two phases, which costs more than the rows.
    ///
    /// - Parameters:
    ///   - rows: The rows, which are kept.
    ///   - copy: The statement `COPY table (columns) FROM STDIN (FORMAT binary)`.
    /// - Throws: As `copyIn` and `pipeline`.
    func write(_ rows: inout CopyRows, by copy: String) throws(PostgresError) {
        guard rows.count <= Self.insertedMax, try DatabaseEngine(of: self) == .citus else {
            return try copyIn(copy, &rows)
        }
        let values = try rows.values()
        let names = (1...max(1, values.first?.count ?? 0)).map { "$\($0)" }
        let sql = copy.replacing("COPY ", with: "INSERT INTO ", maxReplacements: 1)
            .replacing(
                "FROM STDIN (FORMAT binary)", with: "VALUES (\(names.joined(separator: ", ")))")
        // A table has one such statement.
        let table = copy.dropFirst("COPY ".count).prefix { $0 != " " }
        let insert = Statement("\(table)_insert", sql)
        _ = try pipeline(values.map { Call(insert, $0) })
    }
}
