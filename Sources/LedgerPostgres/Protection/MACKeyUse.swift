package import LedgerEngine
package import Postgres

/// The remaining uses of a MAC key outside of the logs that name it.
package enum MACKeyUse {
    /// Searches for a head or a live row whose MAC has this key.
    ///
    /// - Returns: The first use found with its tenant, such as `rows of sessions of tenant
    ///   default`, or nil.
    package static func first(
        of key: MACKey.ID, on connection: Connection
    ) throws(PostgresError) -> String? {
        let locations =
            [(name: "the head", table: "ledger_head", live: "true")]
            + ProtectedTable.allCases.map {
                (name: "rows of \($0.rawValue)", table: $0.rawValue, live: $0.live)
            }
        for location in locations {
            let found = try connection.query(
                AllTenants.usingMACKey(in: location.table, where: location.live),
                [.bytes(key.bytes)])
            if found.rowCount > 0 { return "\(location.name) of tenant \(try found.text(0, 0))" }
        }
        return nil
    }
}

extension ProtectedTable {
    /// The condition that a row `t` is live.
    package var live: String {
        switch self {
        case .identities, .merges, .rules, .addresses, .names, .credentials, .factors,
            .erasureRequests:
            "true"
        case .sessions: "t.ended_position IS NULL"
        case .apiKeys: "t.revoked_at IS NULL"
        }
    }
}
