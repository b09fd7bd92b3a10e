package import Postgres

/// Where a MAC key is still needed, beside the logs that name it.
package enum MACKeyUse {
    /// Looks for a head or a live row with a code by a key.
    ///
    /// - Returns: what was found first and whose it is, such as `rows of sessions of tenant default`; nil where
    ///   there is nothing.
    package static func first(
        of key: MACKey.ID, on connection: Connection
    ) throws(PostgresError) -> String? {
        let places =
            [(name: "the head", table: "ledger_head", live: "true")]
            + ProtectedTable.allCases.map {
                (name: "rows of \($0.rawValue)", table: $0.rawValue, live: $0.live)
            }
        for place in places {
            let found = try connection.query(
                Statement(
                    "mac_key_use_\(place.table)",
                    """
                    SELECT t.tenant_id FROM \(place.table) t
                    WHERE substring(t.mac FOR 4) = $1 AND \(place.live) LIMIT 1
                    """), [.bytes(key.bytes)])
            if found.rowCount > 0 { return "\(place.name) of tenant \(try found.text(0, 0))" }
        }
        return nil
    }
}
