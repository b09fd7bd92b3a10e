internal import Postgres

extension MigrationSite {
    /// Drops the tables of read models that a rebuild was broken off in: nobody uses them, and what they
    /// hold of people has no other end.
    ///
    /// - Returns: their names. A table whose rebuild runs stays, and so does one that somebody reads.
    func dropUnfinishedTables() throws -> [String] {
        var dropped: [String] = []
        for (table, state) in try ProjectionTables.all(on: connection) where state == .building {
            // Kept until this connection ends.
            guard try RebuildLock.take(table.projection, on: connection) != nil else { continue }
            if try TableExchange.drop(table, on: connection) { dropped.append(table.description) }
        }
        return dropped
    }
}
