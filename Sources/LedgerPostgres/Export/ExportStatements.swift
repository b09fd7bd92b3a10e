import Ledger
import Postgres
import TransparencyLog

/// The statements that an export reads what was sealed with.
enum ExportStatements {
    private static let oldest = Statement(
        "export_first_checkpoint",
        """
        SELECT note FROM checkpoints WHERE tenant_id = $1 AND origin = $2 AND size >= $3
        ORDER BY size LIMIT 1
        """)

    private static let between = Statement(
        "export_checkpoints",
        """
        SELECT note FROM checkpoints
        WHERE tenant_id = $1 AND origin = $2 AND size > $3 AND size <= $4 ORDER BY size
        """)

    /// The head alone is not believed: the serving login may set it back.
    private static let end = Statement(
        "export_end",
        """
        SELECT greatest(
            (SELECT next_position FROM ledger_head WHERE tenant_id = $1),
            (SELECT max(position) + 1 FROM events WHERE tenant_id = $1), 0)
        """)

    /// The note of the checkpoint that was signed last; nil when none was.
    static func newest(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> String? {
        let call = CheckpointRows.latestCall(of: tenant)
        let rows = try connection.query(call.statement, call.parameters)
        return try CheckpointRows.checkpoints(rows).first?.note
    }

    /// The note of the smallest checkpoint of an origin that has at least this size.
    static func checkpoint(
        of tenant: TenantID, origin: NoteKeyName, from size: Int64, on connection: Connection
    ) throws(PostgresError) -> String? {
        try notes(
            oldest, [.text(tenant.description), .text(origin.description), .int8(size)],
            on: connection
        ).first
    }

    /// The notes of an origin's checkpoints with sizes above one and up to another, smallest first.
    static func checkpoints(
        of tenant: TenantID, origin: NoteKeyName, above size: Int64, through end: Int64,
        on connection: Connection
    ) throws(PostgresError) -> [String] {
        try notes(
            between,
            [
                .text(tenant.description), .text(origin.description), .int8(size), .int8(end),
            ], on: connection)
    }

    /// The verifier keys of a tenant's log, the newest first.
    static func keys(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [String] {
        let call = CheckpointRows.keysCall(of: tenant)
        let rows = try connection.query(call.statement, call.parameters)
        return try CheckpointRows.keys(rows).map(\.verifierKey).reversed()
    }

    /// The position after the last event.
    static func end(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Int64 {
        try connection.query(end, [.text(tenant.description)]).int8(0, 0)
    }

    /// Stored hashes by their indexes; those that are not there are left out.
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

    private static func notes(
        _ statement: Statement, _ parameters: [Parameter], on connection: Connection
    ) throws(PostgresError) -> [String] {
        let rows = try connection.query(statement, parameters)
        var notes: [String] = []
        for row in 0..<rows.rowCount { notes.append(try rows.text(row, 0)) }
        return notes
    }
}
