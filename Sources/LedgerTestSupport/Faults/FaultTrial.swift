internal import Foundation
internal import Synchronization

/// A fault, some rounds of it, under traffic, on an installation with a cluster of its own.
package final class FaultTrial: Sendable {
    /// How a trial is set up.
    package struct Setup: Sendable {
        /// Rounds in a test run; `LEDGER_CHAOS_ROUNDS` says how many there are in a longer one.
        package var rounds = 2
        /// Clients at the same time.
        package var lanes = 8
        /// Commands that have to be acknowledged before each round; ten times as many in a long one.
        package var warmUp = 40
        /// How long a round may take to serve again.
        package var patience = Duration.seconds(60)
        /// Changes of the claims of the clients' ID tokens.
        package var claims: [String: any Sendable] = [:]
        /// Answers beside 503 that the fault excuses: status and code.
        package var excused: Set<String> = []
        /// Settings of the servers beside the usual ones.
        package var settings: [String: String] = [:]
        /// The environment of Postgres beside what it needs.
        package var clusterEnvironment: [String: String] = [:]
        /// Whether the servers reach Postgres through a proxy.
        package var isProxied = false

        /// The usual setup.
        package init() {}
    }

    /// What a trial came to.
    package struct Outcome: Sendable {
        package let fault: String
        package let rounds: Int
        package let count: TrafficCount
        package let reckoning: Reckoning
        /// Sessions and links that were acknowledged and did not work afterwards.
        package let broken: [String]
        /// From when it could serve again to when it did, in the slowest round.
        package let recovery: Duration
        /// The exit status of `verify`, and what it said.
        package let verified: CommandLineTool.Outcome
        /// What `pg_amcheck --heapallindexed` found; empty when all is well.
        package let corruption: String
    }

    package let cluster: PrivateCluster
    package let deployment: Deployment
    package let traffic: Traffic
    /// The rounds to go through.
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

    /// Runs a trial; the body starts servers, aims the traffic and goes through the rounds.
    ///
    /// - Throws: what setting up or the body throws.
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
                let outcome = try await trial.outcome(of: fault)
                try FaultReport.add(outcome)
                return outcome
            }
        }
    }

    /// The proxy between servers and Postgres.
    ///
    /// - Throws: `TestTimeout` when there is none.
    package var proxy: FaultyProxy {
        get throws {
            guard let proxy = currentProxy.withLock(\.self) else {
                throw TestTimeout(waitingFor: "a proxy, which the setup has to ask for")
            }
            return proxy
        }
    }

    /// Starts the proxy anew on its port, after it was stopped.
    ///
    /// - Throws: `TestTimeout`.
    package func restartProxy() async throws {
        let fresh = try await FaultyProxy(target: cluster.port, port: proxy.port)
        currentProxy.withLock { $0 = fresh }
    }

    /// Starts a server and aims all traffic at it.
    ///
    /// - Throws: `TestTimeout`.
    package func serve(settings: [String: String] = [:]) async throws -> ServerProcess {
        let server = try await deployment.serve(settings: settings)
        traffic.aim(at: [server])
        return server
    }

    /// One round: work is acknowledged, the fault comes and goes, and work is acknowledged and read back
    /// again.
    ///
    /// - Parameter fault: gives the moment from which nothing is in the way any more.
    /// - Throws: `TestTimeout`, or what the fault throws.
    package func round(_ fault: () async throws -> ContinuousClock.Instant) async throws {
        let before = traffic.count.acknowledged
        try await eventually("work to be acknowledged") {
            traffic.count.acknowledged >= before + setup.warmUp ? true : nil
        }
        let healed = try await fault()
        try await eventually("work to be acknowledged and read again", within: setup.patience) {
            traffic.isServed(since: healed) ? true : nil
        }
        let time = ContinuousClock.now - healed
        recovery.withLock { $0 = max($0, time) }
    }

    private func outcome(of fault: String) async throws -> Outcome {
        let server = try await deployment.serve()
        let broken = try await brokenPromises(on: server.client)
        let reckoning = try await Reckoning(traffic.commands, logAt: deployment.superuserURL)
        var verified = try await deployment.tool.run(["verify"])
        // The projections may still have to catch up.
        for _ in 0..<20 where verified.status != 0 {
            try await Task.sleep(for: .milliseconds(500))
            verified = try await deployment.tool.run(["verify"])
        }
        let corruption = try await cluster.corruption(in: "ledger")
        return Outcome(
            fault: fault, rounds: rounds.count, count: traffic.count, reckoning: reckoning,
            broken: broken, recovery: recovery.withLock(\.self), verified: verified,
            corruption: corruption)
    }

    /// Sessions that cannot be refreshed any more, and links that lead elsewhere.
    private func brokenPromises(on client: WireClient) async throws -> [String] {
        var broken: [String] = []
        for standing in traffic.standing.shuffled().prefix(60) {
            let refreshed = try await client.call(
                "POST", "/v1/auth/refresh", ["refresh_token": standing.refreshToken])
            if refreshed.status != 200 {
                broken.append("\(standing.subject): a session ended by itself")
            }
            let signedIn = try await client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: standing.subject)])
            if signedIn.text("user_id") != standing.userID {
                broken.append("\(standing.subject): the link leads elsewhere")
            }
        }
        return broken
    }
}
