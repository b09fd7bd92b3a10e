import LedgerEngine
internal import Postgres

extension MigrationSite {
    /// Drops the tables of aborted rebuilds: they are unused, and nothing else deletes their
    /// personal data.
    ///
    /// - Returns: Their names. The table of a running rebuild is kept, and so is one that is being
    ///   read.
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
