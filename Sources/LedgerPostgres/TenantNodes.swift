package import Ledger
import Postgres
import Synchronization

/// The nodes of Citus that hold the tenants, so that one that does not answer delays its own tenants only.
///
/// A hint that is learned when a tenant's commands and reads are executed, from the coordinator alone. One that is
/// out of date costs waiting, nothing else. On plain Postgres every tenant is in lane 0.
package final class TenantNodes: Sendable {
    /// The time for which a node is left out after it has failed.
    private static let leaveOut = Duration.seconds(30)
    /// The time after which the node of a tenant is looked up again.
    private static let remember = Duration.seconds(60)
    /// The number of lanes beside the first one.
    private static let lanesMax: Int32 = 16
    private static let tenantsMax = 100_000
    /// The number of connections that share the commands of a node's tenants: a transaction has those of one tenant and
    /// mostly waits for the node.
    private static let connectionsPerNode: UInt32 = 4

    private struct State {
        var nodes: [TenantID: (lane: Int, since: ContinuousClock.Instant)] = [:]
        /// The times at which lanes failed; -1 stands for statements over all tenants.
        var failures: [Int: ContinuousClock.Instant] = [:]
    }

    private static let lookup = Statement(
        "node_of_tenant",
        """
        SELECT p.groupid FROM pg_catalog.pg_dist_placement p
        WHERE p.shardid = get_shard_id_for_distribution_column('public.ledger_head', $1::text)
        ORDER BY 1 LIMIT 1
        """)

    private let state = Mutex(State())

    /// Creates a directory that knows no tenant.
    package init() {}

    /// Returns the lane of a tenant: that of its node, or 0 while it is unknown.
    package func lane(of tenant: TenantID) -> Int {
        state.withLock { $0.nodes[tenant]?.lane ?? 0 }
    }

    /// Returns the lane of a tenant's commands, one of several for its node.
    package func commandLane(of tenant: TenantID) -> Int {
        let lane = lane(of: tenant)
        guard lane > 0 else { return 0 }
        let hash = tenant.description.utf8.reduce(0 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return lane * Int(Self.connectionsPerNode) + Int(hash % Self.connectionsPerNode)
    }

    /// Looks up the node of a tenant on Citus, unless that was done lately.
    func learn(_ tenant: TenantID, on connection: Connection) throws(PostgresError) {
        let now = ContinuousClock.now
        let isKnown = state.withLock { state in
            state.nodes[tenant].map { now - $0.since < Self.remember } ?? false
        }
        guard !isKnown else { return }
        let result = try connection.query(Self.lookup, [.text(tenant.description)])
        let lane =
            result.rowCount == 1 ? Int(1 + abs(try result.int4(0, 0)) % Self.lanesMax) : 0
        note(tenant, lane: lane)
    }

    /// Notes the lane of a tenant's node.
    func note(_ tenant: TenantID, lane: Int) {
        state.withLock { state in
            if state.nodes.count >= Self.tenantsMax { state.nodes.removeAll() }
            state.nodes[tenant] = (lane: lane, since: .now)
        }
    }

    /// Whether a statement over all tenants failed lately.
    var allFailed: Bool { hasFailed(-1) }

    /// Records that a statement over all tenants failed.
    func noteFailureOfAll() { noteFailure(of: -1) }

    /// Records that a statement about the tenants of a lane failed.
    func noteFailure(of lane: Int) {
        state.withLock { $0.failures[lane] = .now }
    }

    /// Records that a statement about one tenant failed: until the node has recovered, statements over all tenants
    /// would fail as well.
    func noteFailure(toReach tenant: TenantID) {
        noteFailureOfAll()
        let lane = lane(of: tenant)
        if lane > 0 { noteFailure(of: lane) }
    }

    /// Whether the node of a tenant has not failed lately, as far as it is known.
    func isReachable(_ tenant: TenantID) -> Bool { !hasFailed(lane(of: tenant)) }

    /// Returns the known tenants of each node that has not failed lately.
    func reachable() -> [(lane: Int, tenants: [TenantID])] {
        let known = state.withLock { $0.nodes.mapValues(\.lane) }
        return Dictionary(grouping: known.keys) { known[$0] ?? 0 }
            .filter { !hasFailed($0.key) }.sorted { $0.key < $1.key }
            .map { (lane: $0.key, tenants: $0.value.sorted()) }
    }

    private func hasFailed(_ lane: Int) -> Bool {
        state.withLock { state in
            state.failures[lane].map { ContinuousClock.now - $0 < Self.leaveOut } ?? false
        }
    }
}
