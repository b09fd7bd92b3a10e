import Ledger
import LedgerPostgres
import Postgres
import TransparencyLog

/// The statements with which an export reads sealed data.
enum ExportStatements {
    /// The head alone is not trusted: the runtime login could set it back.
    private static let end = Statement(
        "export_end",
        """
        SELECT greatest(
            (SELECT next_position FROM ledger_head WHERE tenant_id = $1),
            (SELECT least(max(position), 9223372036854775806) + 1 FROM events
                WHERE tenant_id = $1), 0)
        """)

    /// Returns the verifier keys of a tenant's log, the newest first.
    static func keys(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [String] {
        let call = CheckpointRows.keysCall(of: tenant)
        let rows = try connection.query(call.statement, call.parameters)
        return try CheckpointRows.keys(rows).map(\.verifierKey).reversed()
    }

    /// Returns the position after the last event.
    static func end(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Int64 {
        try connection.query(end, [.text(tenant.description)]).int8(0, 0)
    }

    /// Returns stored hashes by index; missing ones are omitted.
    static func nodes(
        at indexes: Set<Int64>, of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [Int64: TreeHash] {
        let indexes = indexes.sorted()
        let call = NodeRows.call(at: indexes, of: tenant)
        let hashes = try NodeRows.hashes(try connection.query(call.statement, call.parameters))
        var nodes: [Int64: TreeHash] = [:]
        nodes.reserveCapacity(hashes.count)
        for (index, hash) in zip(indexes, hashes) {
            nodes[index] = hash
        }
        return nodes
    }
}
