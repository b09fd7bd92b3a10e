package import Ledger
package import Postgres

/// The deletion of the rows of a tenant that was moved away, or only half copied here.
///
/// An erasure at the new place does not reach the former one. What no login may delete stays: the log, its hashes and
/// signatures, and the access log, none of which has personal data.
package enum TenantDiscard {
    private static let generations = Statement(
        "discard_tables", "SELECT name, generation FROM projection_tables ORDER BY 1, 2")

    /// Deletes the rows; once more, it changes nothing.
    ///
    /// - Parameters:
    ///   - tenant: The tenant.
    ///   - connection: A connection of the owner of the tables.
    ///   - run: The number of this run, unlike that of any other.
    /// - Throws: `TenantCopyFault.notMoved` or `.unfinished`, or `PostgresError`.
    package static func run(
        _ tenant: TenantID, on connection: Connection, run: UInt128
    ) throws {
        let tables = try tables(on: connection)
        try connection.transaction {
            guard let move = try MoveRows.lock(tenant, on: connection), move.state != .leaving
            else { throw TenantCopyFault.notMoved }
            // Until the destination serves it, the end of the move compares these rows, and may copy them again.
            guard move.state != .moved || move.run == TenantMove.activated else {
                throw TenantCopyFault.unfinished
            }
            // A copy that is under way here can't go on: it would take what is left for the whole.
            _ = try MoveRows.takeOver(
                tenant, move.state, peer: move.peer, run: run, on: connection)
            for table in tables {
                _ = try connection.query(
                    Statement(
                        "discard_\(table)", "DELETE FROM \(table) WHERE tenant_id = $1::text"),
                    [.text(tenant.description)])
            }
            try MoveRows.markDiscarded(tenant, on: connection)
        }
    }

    /// The tables, of read models all generations.
    private static func tables(on connection: Connection) throws(PostgresError) -> [String] {
        let models = try connection.query(generations)
        var places: [String: [String]] = [:]
        for row in 0..<models.rowCount {
            let name = try models.text(row, models.column("name"))
            let generation = try models.int4(row, models.column("generation"))
            places[name, default: []].append("\(name)_\(generation)")
        }
        return Catalogue.tables.filter { TenantCopyRule.isDiscarded($0.name) }
            .flatMap { $0.isReadModel ? places[$0.name] ?? [] : [$0.name] }
    }
}
