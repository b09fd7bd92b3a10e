internal import Foundation
internal import Postgres

/// Citus on clusters of a single test: a coordinator, and two workers that every node reaches through proxies.
package final class CitusCluster: Sendable {
    /// A worker, and the proxy whose port is its address.
    package struct Worker: Sendable {
        package let cluster: PrivateCluster
        package let proxy: FaultyProxy
    }

    package let coordinator: PrivateCluster
    package let workers: [Worker]

    private static let settings = [
        "shared_preload_libraries=citus", "max_prepared_transactions=200", "max_connections=200",
        "citus.node_conninfo=sslmode=disable", "citus.max_background_task_executors=1",
    ]

    private init(_ coordinator: PrivateCluster, _ workers: [Worker]) {
        self.coordinator = coordinator
        self.workers = workers
    }

    /// Runs the body with running nodes that are not joined yet, which are removed afterwards.
    ///
    /// - Throws: An error of the setup or the body; a server without the extension does not start.
    package static func with<Value>(
        _ body: (CitusCluster) async throws -> Value
    ) async throws -> Value {
        try await PrivateCluster.with(settings: settings) { coordinator in
            try await PrivateCluster.with(settings: settings) { first in
                try await PrivateCluster.with(settings: settings) { second in
                    let workers = try await [
                        Worker(cluster: first, proxy: FaultyProxy(target: first.port)),
                        Worker(cluster: second, proxy: FaultyProxy(target: second.port)),
                    ]
                    return try await body(CitusCluster(coordinator, workers))
                }
            }
        }
    }

    /// Joins the nodes in the coordinator's new database `ledger`, whose login `ledger_app` is new as well.
    ///
    /// - Throws: `PostgresError`.
    package func join() async throws {
        for worker in workers {
            try await Self.run(
                [
                    "CREATE ROLE ledger_app LOGIN", "CREATE DATABASE ledger",
                ], on: worker.cluster.url)
            try await Self.run(["CREATE EXTENSION citus"], on: Self.ledger(on: worker.cluster))
        }
        try await Self.run(
            [
                "CREATE EXTENSION citus", "ALTER DATABASE ledger SET citus.shard_count = 4",
                "SELECT citus_set_coordinator_host('127.0.0.1', \(coordinator.port))",
            ] + workers.map { "SELECT citus_add_node('127.0.0.1', \($0.proxy.port))" },
            on: Self.ledger(on: coordinator))
    }

    /// Returns the worker that holds a tenant.
    ///
    /// - Throws: `PostgresError`, or `TestTimeout` if it is on no worker.
    package func worker(of tenant: String) async throws -> Worker {
        let session = Session(url: Self.ledger(on: coordinator), applicationName: "placement")
        let port = try await session.run { try $0.query(Self.port, [.text(tenant)]).int4(0, 0) }
        await session.close()
        guard let worker = workers.first(where: { $0.proxy.port == Int(port) }) else {
            throw TestTimeout(waitingFor: "a worker at port \(port)")
        }
        return worker
    }

    private static let port = Statement(
        "port_of_tenant",
        """
        SELECT n.nodeport FROM pg_dist_placement p JOIN pg_dist_node n ON n.groupid = p.groupid
        WHERE p.shardid = get_shard_id_for_distribution_column('ledger_head', $1)
        """)

    /// Resolves the prepared transactions of all workers, as Citus does each minute, and returns the number that is
    /// left.
    ///
    /// - Throws: `PostgresError`.
    package func unresolvedTransactions() async throws -> Int64 {
        try await Self.run(
            ["SELECT recover_prepared_transactions()"], on: Self.ledger(on: coordinator))
        var count: Int64 = 0
        for node in workers.map(\.cluster) + [coordinator] {
            let session = Session(url: Self.ledger(on: node), applicationName: "prepared")
            count += try await session.run {
                try $0.query(Statement("prepared", "SELECT count(*) FROM pg_prepared_xacts"))
                    .int8(0, 0)
            }
            await session.close()
        }
        return count
    }

    /// Returns the superuser's URL of the database of a node.
    static func ledger(on node: PrivateCluster) -> String {
        node.url.replacing("/postgres", with: "/ledger")
    }

    private static func run(_ statements: [String], on url: String) async throws {
        let session = Session(
            url: url, applicationName: "forming Citus", statementDeadline: .seconds(60))
        try await session.run { connection in
            for statement in statements { try connection.execute(statement) }
        }
        await session.close()
    }
}
