package import Ledger
package import LedgerEngine
package import Postgres
import TransparencyLog

/// The Merkle root of a tenant's whole log, from the stored bytes of its entries.
///
/// A mark records it, so every event is authenticated first: a forged event must not be covered by
/// a root that a server vouches for.
package enum LogRoot {
    private static let page = Statement(
        "log_root_page",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND position >= $2 ORDER BY position LIMIT $3
        """)

    private static let head = Statement(
        "log_root_head",
        "SELECT next_position, mac FROM ledger_head WHERE tenant_id = $1::text")

    /// Reads the log up to its head.
    ///
    /// - Returns: The root with its number of entries, and the key that authenticates new events;
    ///   the key is nil if no server of this release has written to the log.
    /// - Throws: `LogDamage` for an event that is missing or that no holder of the key has
    ///   appended.
    package static func read(
        of tenant: TenantID, keys: MACKeys, on connection: Connection
    ) throws -> (prefix: KeyRotated.Prefix, keyInUse: MACKey.ID?) {
        let name = Parameter.text(tenant.description)
        let found = try connection.query(head, [name])
        guard found.rowCount == 1 else { throw PostgresError.unexpectedResult("no head") }
        let size = try found.int8(0, found.column("next_position"))
        let protection = try LogProtection.read(of: tenant, keys: keys, on: connection)
        var tree = CompactRange()
        while tree.size < size {
            let limit = min(Int64(LogReader.pageMax), size - tree.size)
            let rows = try connection.query(page, [name, .int8(tree.size), .int8(limit)])
            for row in 0..<rows.rowCount {
                let position = LogPosition(tree.size)
                guard try rows.int8(row, rows.column("position")) == tree.size else { break }
                let entry = try rows.bytes(row, rows.column("entry"))
                try protection.check(
                    try rows.optionalBytes(row, rows.column("mac")), at: position,
                    leaf: LogDigest.leaf(entry))
                _ = tree.append(TreeHash.leaf(entry))
            }
            guard Int64(rows.rowCount) == limit, tree.size <= size else {
                throw LogDamage(position: LogPosition(tree.size), fault: "the event is missing")
            }
        }
        guard let root = Digest(tree.root.bytes) else {
            throw PostgresError.unexpectedResult("a root has 32 bytes")
        }
        return (
            KeyRotated.Prefix(root: root, size: size),
            try found.optionalBytes(0, found.column("mac")).flatMap { MAC($0) }?.key
        )
    }
}
