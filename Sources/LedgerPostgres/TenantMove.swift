package import Ledger
package import Postgres

/// The mark of a tenant that is copied to another database or from one, and that is not served here.
///
/// It is a row of `tenant_moves`, which only the owner of the tables writes. A batch reads it under the lock of the
/// head, each look for work leaves such tenants out, and requests over HTTP read it through ``Tenants``.
package struct TenantMove: Hashable, Sendable {
    /// The stage of a move; the raw values are stored.
    package enum State: String, Sendable {
        /// Is copied here from the peer.
        case arriving
        /// Stopped here, while the last rows are copied to the peer.
        case leaving
        /// The peer has all rows.
        case moved
        /// The peer has all rows, and here only the log without personal data is left.
        case discarded

        /// Whether another database serves the tenant.
        package var isFinal: Bool { self == .moved || self == .discarded }
    }

    /// The longest time after which a process notices a mark; commands notice it at once.
    package static let noticeMax = Duration.seconds(2)

    /// The stage.
    package let state: State
    /// The other database, as ``DatabaseIdentity`` names it.
    package let peer: String
    /// The run of the command that made the mark, or ``activated``.
    package let run: UInt128

    /// The run of a mark as moved once the peer is known to serve the tenant.
    package static let activated: UInt128 = 0

    /// Whether the database with the mark has served the tenant, and moves it on to another one than the former.
    func leadsOn(from former: String) -> Bool { state != .arriving && peer != former }

    /// One line for an operator.
    package var description: String {
        switch state {
        case .arriving: "is being copied here from \(peer)"
        case .leaving: "is being copied to \(peer)"
        case .moved: "was moved to \(peer)"
        case .discarded: "was moved to \(peer), and its data discarded here"
        }
    }

    private static let one = Statement(
        "tenant_move", "SELECT state, peer, run FROM tenant_moves WHERE tenant_id = $1::text")

    /// Returns the mark of a tenant; nil for one that is served here, or does not exist.
    package static func of(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> TenantMove? {
        let result = try connection.query(one, [.text(tenant.description)])
        return result.rowCount == 0 ? nil : try TenantMove(result, 0)
    }

    /// Returns the marks of all tenants.
    package static func all(
        on connection: Connection
    ) throws(PostgresError) -> [TenantID: TenantMove] {
        let result = try connection.query(AllTenants.moves)
        var moves: [TenantID: TenantMove] = [:]
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                continue
            }
            moves[tenant] = try TenantMove(result, row)
        }
        return moves
    }

    init(_ result: QueryResult, _ row: Int) throws(PostgresError) {
        guard let state = State(rawValue: try result.text(row, result.column("state"))) else {
            throw .unexpectedResult("a row of tenant_moves has an unknown state")
        }
        self.state = state
        peer = try result.text(row, result.column("peer"))
        run = try result.uuid(row, result.column("run"))
    }
}
