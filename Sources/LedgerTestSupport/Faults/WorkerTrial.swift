internal import Foundation
internal import Synchronization

/// A fault of one worker of Citus, under traffic of tenants on it and on the other one.
package final class WorkerTrial: Sendable {
    /// The outcome of a trial.
    package struct Outcome: Sendable {
        package let fault: String
        package let count: TrafficCount
        package let reckoning: LogComparison
        /// Sessions and links that were acknowledged and did not work afterwards.
        package let broken: [String]
        /// The longest time without an acknowledged command of a tenant on the other worker.
        package let othersPause: Duration
        /// The longest time from the end of the fault to an acknowledged command and a read of every tenant.
        package let recovery: Duration
        /// The exit status and the output of `verify`.
        package let verified: CommandLineTool.Outcome
        /// Prepared transactions that were not resolved.
        package let unresolved: Int64
    }

    /// Commands to be acknowledged before each round.
    private static let warmUp = 40
    private static let lanes = 8
    private static let tenantsOfWorker = 2

    package let cluster: CitusCluster
    package let deployment: Deployment
    package let traffic: Traffic
    package let server: ServerProcess
    /// The worker that fails.
    package let worker: CitusCluster.Worker
    /// The clients of the tenants on the failing worker.
    package let struck: [WireClient]
    /// The clients of the tenants on the other worker.
    package let others: [WireClient]
    private let recovery = Mutex(Duration.zero)

    private init(
        _ cluster: CitusCluster, _ deployment: Deployment, _ server: ServerProcess,
        struck: [WireClient], others: [WireClient]
    ) {
        self.cluster = cluster
        self.deployment = deployment
        self.server = server
        self.struck = struck
        self.others = others
        worker = cluster.workers[0]
        var setup = FaultTrial.Setup()
        setup.lanes = Self.lanes
        traffic = Traffic(deployment, setup)
        traffic.aim(at: struck + others)
    }

    /// Runs a trial; the body runs rounds.
    ///
    /// - Throws: An error of the setup or the body.
    package static func run(
        _ fault: String, _ body: (WorkerTrial) async throws -> Void
    ) async throws -> Outcome {
        try await with { trial in
            try await trial.traffic.run { try await body(trial) }
            let outcome = try await trial.outcome(of: fault)
            print("fault of a worker: \(fault): \(outcome.summary)")
            return outcome
        }
    }

    /// Runs the body with a server and tenants on both workers, without traffic.
    ///
    /// - Throws: An error of the setup or the body.
    package static func with<Value>(
        _ body: (WorkerTrial) async throws -> Value
    ) async throws -> Value {
        try await CitusCluster.with { cluster in
            let owner = CitusCluster.ledger(on: cluster.coordinator)
            return try await Deployment.with(
                clusterAt: cluster.coordinator.url, superuserURL: owner,
                runtimeURL: owner.replacing("//owner@", with: "//ledger_app@"), settings: [:],
                prepare: cluster.join
            ) { deployment in
                let (struck, others) = try await tenants(of: cluster)
                let file = Deployment.providersFile(
                    google: deployment.google, apple: deployment.apple)
                var members: [String] = []
                for tenant in struck + others {
                    let created = try await deployment.tool.run(["tenant", "create", tenant])
                    guard created.status == 0 else {
                        throw TestTimeout(waitingFor: "a tenant: \(created.errors)")
                    }
                    members.append("\"\(tenant)\":\(file)")
                }
                let providers = try deployment.write(
                    "{\"tenants\":{\(members.joined(separator: ","))}}", to: "tenants.json")
                let server = try await deployment.serve(settings: ["LEDGER_PROVIDERS": providers])
                func clients(_ tenants: [String]) -> [WireClient] {
                    tenants.map { WireClient(base: "\(server.client.base)/t/\($0)") }
                }
                return try await body(
                    WorkerTrial(
                        cluster, deployment, server, struck: clients(struck),
                        others: clients(others)))
            }
        }
    }

    /// Chooses names of tenants on the first worker and on the second one.
    private static func tenants(
        of cluster: CitusCluster
    ) async throws -> (struck: [String], others: [String]) {
        var (struck, others): ([String], [String]) = ([], [])
        for number in 1...100 {
            let name = "tenant-\(number)"
            let worker = try await cluster.worker(of: name)
            if worker.cluster === cluster.workers[0].cluster {
                if struck.count < tenantsOfWorker { struck.append(name) }
            } else if others.count < tenantsOfWorker {
                others.append(name)
            }
            if struck.count + others.count == 2 * tenantsOfWorker { return (struck, others) }
        }
        throw TestTimeout(waitingFor: "tenants on both workers")
    }

    /// Runs a round: commands are acknowledged, the fault begins and ends, and every tenant is served again.
    ///
    /// - Parameter fault: Returns the time of the end of the fault.
    /// - Throws: `TestTimeout`, or an error of the fault.
    package func round(_ fault: () async throws -> ContinuousClock.Instant) async throws {
        let before = traffic.count.acknowledged
        try await eventually("work to be acknowledged") {
            traffic.count.acknowledged >= before + Self.warmUp ? true : nil
        }
        let healed = try await fault()
        try await eventually("every tenant to be served") {
            traffic.isServed(since: healed) ? true : nil
        }
        let time = ContinuousClock.now - healed
        recovery.withLock { $0 = max($0, time) }
    }

    /// Waits until each tenant on the other worker has a command acknowledged and a read answered that were sent
    /// after a time.
    ///
    /// - Throws: `TestTimeout`.
    package func expectOthersServed(since moment: ContinuousClock.Instant) async throws {
        try await eventually("the tenants of the other worker to be served") {
            traffic.isServed(others, since: moment) ? true : nil
        }
    }

    private func outcome(of fault: String) async throws -> Outcome {
        var verified = try await deployment.tool.run(["verify"])
        // The projections may still be catching up.
        for _ in 0..<20 where verified.status != 0 {
            try await Task.sleep(for: .milliseconds(500))
            verified = try await deployment.tool.run(["verify"])
        }
        var unresolved = try await cluster.unresolvedTransactions()
        // One that the server is committing at this moment is no remnant.
        for _ in 0..<20 where unresolved != 0 {
            try await Task.sleep(for: .milliseconds(500))
            unresolved = try await cluster.unresolvedTransactions()
        }
        return Outcome(
            fault: fault, count: traffic.count,
            reckoning: try await LogComparison(
                traffic.commands, logAt: deployment.superuserURL),
            broken: try await traffic.brokenGuarantees(),
            othersPause: others.map { traffic.longestPause(of: $0) }.max() ?? .zero,
            recovery: recovery.withLock(\.self), verified: verified,
            unresolved: unresolved)
    }
}

extension WorkerTrial.Outcome {
    /// One line of figures.
    var summary: String {
        "\(count.acknowledged) commands acknowledged, \(count.unavailable) answers 503,"
            + " slowest answer \(count.slowestAnswer), longest pause of the other worker's"
            + " tenants \(othersPause), recovery \(recovery)"
    }
}
