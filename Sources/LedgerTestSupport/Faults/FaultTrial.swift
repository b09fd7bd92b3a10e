internal import Foundation
internal import Synchronization

/// Some rounds of a fault under traffic, on an installation with its own cluster.
package final class FaultTrial: Sendable {
    /// The setup of a trial.
    package struct Setup: Sendable {
        /// Rounds in a test run; `LEDGER_CHAOS_ROUNDS` sets them for a longer one.
        package var rounds = 2
        /// The number of concurrent clients.
        package var lanes = 8
        /// Commands to be acknowledged before each round; ten times as many in a long run.
        package var warmUp = 40
        /// The time limit for the recovery in a round.
        package var recoveryLimit = Duration.seconds(60)
        /// Changes of the claims of the clients' ID tokens, in JSON.
        package var claims: [String: String] = [:]
        /// Answers other than 503 that the fault excuses: status and code.
        package var excused: Set<String> = []
        /// Additional settings of the servers.
        package var settings: [String: String] = [:]
        /// Additional environment variables of Postgres.
        package var clusterEnvironment: [String: String] = [:]
        /// Whether the servers reach Postgres through a proxy.
        package var isProxied = false

        /// The usual setup.
        package init() {}
    }

    package let cluster: PrivateCluster
    package let deployment: Deployment
    package let traffic: Traffic
    /// The rounds to run.
    package let rounds: Range<Int>
    private let setup: Setup
    private let currentProxy: Mutex<FaultyProxy?>
    private let recovery = Mutex(Duration.zero)

    private init(
        _ setup: Setup, rounds: Int, cluster: PrivateCluster, deployment: Deployment,
        proxy: FaultyProxy?
    ) {
        self.setup = setup
        self.rounds = 0..<rounds
        self.cluster = cluster
        self.deployment = deployment
        currentProxy = Mutex(proxy)
        traffic = Traffic(deployment, setup)
    }

    /// Runs a trial; the body starts servers, directs the traffic and runs the rounds.
    ///
    /// - Throws: an error of the setup or the body.
    package static func run(
        _ fault: String, _ setup: Setup = Setup(), _ body: (FaultTrial) async throws -> Void
    ) async throws -> Outcome {
        let asked = ProcessInfo.processInfo.environment["LEDGER_CHAOS_ROUNDS"].flatMap { Int($0) }
        let rounds = max(1, asked ?? setup.rounds)
        var setup = setup
        if asked != nil { setup.warmUp *= 10 }
        let environment = setup.clusterEnvironment
        return try await PrivateCluster.with(environment: environment) { cluster in
            let proxy = setup.isProxied ? try await FaultyProxy(target: cluster.port) : nil
            return try await Deployment.with(
                on: cluster, settings: setup.settings, runtimePort: proxy?.port
            ) { deployment in
                let trial = FaultTrial(
                    setup, rounds: rounds, cluster: cluster, deployment: deployment, proxy: proxy)
                try await trial.traffic.run { try await body(trial) }
                let outcome = try await Outcome(
                    of: fault, rounds: rounds, traffic: trial.traffic, deployment: deployment,
                    recovery: trial.recovery.withLock(\.self)
                ) { try await cluster.corruption(in: "ledger") }
                try FaultReport.add(outcome)
                return outcome
            }
        }
    }

    /// The proxy between servers and Postgres.
    ///
    /// - Throws: `TestTimeout` if none appears in time.
    package var proxy: FaultyProxy {
        get throws {
            guard let proxy = currentProxy.withLock(\.self) else {
                throw TestTimeout(waitingFor: "a proxy, which the setup has to ask for")
            }
            return proxy
        }
    }

    /// Starts the stopped proxy again on its port.
    ///
    /// - Throws: `TestTimeout`.
    package func restartProxy() async throws {
        let fresh = try await FaultyProxy(target: cluster.port, port: proxy.port)
        currentProxy.withLock { $0 = fresh }
    }

    /// Starts a server and directs all traffic to it.
    ///
    /// - Throws: `TestTimeout`.
    package func serve(settings: [String: String] = [:]) async throws -> ServerProcess {
        let server = try await deployment.serve(settings: settings)
        traffic.aim(at: [server])
        return server
    }

    /// Runs a round: commands are acknowledged, the fault begins and ends, and commands are acknowledged and
    /// read back again.
    ///
    /// - Parameter fault: returns the time of the end of the fault.
    /// - Throws: `TestTimeout`, or an error of the fault.
    package func round(_ fault: () async throws -> ContinuousClock.Instant) async throws {
        let before = traffic.count.acknowledged
        try await eventually("work to be acknowledged") {
            traffic.count.acknowledged >= before + setup.warmUp ? true : nil
        }
        let healed = try await fault()
        try await eventually("work to be acknowledged and read again", within: setup.recoveryLimit)
        {
            traffic.isServed(since: healed) ? true : nil
        }
        let time = ContinuousClock.now - healed
        recovery.withLock { $0 = max($0, time) }
    }
}
