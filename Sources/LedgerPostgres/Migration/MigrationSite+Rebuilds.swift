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
            let lease = RebuildLease(
                projection: table.projection, builder: .random(in: .min ... .max))
            guard try lease.take(on: connection) else { continue }
            if try TableExchange.drop(table, under: lease, on: connection) {
                dropped.append(table.description)
            }
            try RebuildLease.release(from: lease.builder, on: connection)
        }
        return dropped
    }
}
