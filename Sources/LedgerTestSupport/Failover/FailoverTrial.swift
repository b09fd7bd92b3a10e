internal import Foundation
internal import Postgres
internal import Synchronization

/// Some rounds of a fault of a ``PatroniCluster`` under the traffic of two servers, which also seal.
package final class FailoverTrial: Sendable {
    /// The outcome of a trial.
    package struct Outcome: Sendable {
        /// The comparison of the clients' answers with the log, and the checks of the database.
        package let faults: FaultTrial.Outcome
        /// Reasons why the sealer's record, the readiness or the copies on the three machines are wrong.
        package let findings: [String]
    }

    package let cluster: PatroniCluster
    package let deployment: Deployment
    package let traffic: Traffic
    /// The rounds to run.
    package let rounds: Range<Int>
    private let setup: FaultTrial.Setup
    private let watch: FailoverWatch
    private let state = Mutex(State())

    private struct State {
        var recovery = Duration.zero
        var longestPause = Duration.zero
        var findings: [String] = []
    }

    private init(
        _ setup: FaultTrial.Setup, rounds: Int, cluster: PatroniCluster, deployment: Deployment
    ) async throws {
        self.setup = setup
        self.rounds = 0..<rounds
        self.cluster = cluster
        self.deployment = deployment
        traffic = Traffic(deployment, setup)
        let servers = [try await deployment.serve(), try await deployment.serve()]
        watch = FailoverWatch(
            servers, traffic: traffic, auditor: try await deployment.apiKey("auditor"))
        traffic.aim(at: servers)
    }

    /// Runs a trial.
    ///
    /// - Returns: the outcome; nil if the fault needs namespaces and the machine has none, which the report then
    ///   says.
    /// - Throws: an error of the setup or the body.
    package static func run(
        _ fault: String, needsNamespaces: Bool = false,
        _ body: (FailoverTrial) async throws -> Void
    ) async throws -> Outcome? {
        let asked = ProcessInfo.processInfo.environment["LEDGER_CHAOS_ROUNDS"].flatMap { Int($0) }
        let setup = FaultTrial.Setup()
        return try await PatroniCluster.with(trial: fault) { cluster in
            if needsNamespaces, let refusal = cluster.network.refusal {
                try FaultReport.add(["fault": fault, "impossible": refusal])
                return nil
            }
            let settings = [
                "LEDGER_SEALER_STATE": cluster.sealerDirectory,
                "LEDGER_ORIGIN": "ledger.example/failover",
            ]
            return try await Deployment.with(
                clusterAt: cluster.url(of: "postgres"), superuserURL: cluster.url(of: "ledger"),
                runtimeURL: cluster.url(of: "ledger", as: "ledger_app"),
                password: cluster.password, settings: settings
            ) { deployment in
                let trial = try await FailoverTrial(
                    setup, rounds: max(1, asked ?? 1), cluster: cluster, deployment: deployment)
                try await trial.watch.run {
                    try await trial.traffic.run { try await body(trial) }
                }
                return try await trial.outcome(of: fault)
            }
        }
    }

    /// Runs a round: everything works, commands are acknowledged, the fault begins and ends, and everything works
    /// again.
    ///
    /// - Throws: `TestTimeout`, or an error of the fault.
    package func round(_ fault: () async throws -> Void) async throws {
        try await cluster.expectWhole()
        let before = traffic.count.acknowledged
        try await eventually("work to be acknowledged") {
            traffic.count.acknowledged >= before + setup.warmUp ? true : nil
        }
        beginMeasuring()
        try await fault()
        let healed = ContinuousClock.now
        try await expectServed()
        let time = ContinuousClock.now - healed
        try await cluster.expectWhole()
        state.withLock { state in
            state.recovery = max(state.recovery, time)
            state.longestPause = max(state.longestPause, traffic.longestPause)
        }
    }

    /// Measures the time without writes from now on.
    package func beginMeasuring() {
        traffic.beginPauses()
        watch.begin()
    }

    /// Waits until each server has acknowledged a command and answered a read that were sent from now on.
    ///
    /// - Throws: `TestTimeout`.
    package func expectServed() async throws {
        let moment = ContinuousClock.now
        try await eventually("each server to acknowledge and read", within: .seconds(120)) {
            traffic.isServed(since: moment) ? true : nil
        }
    }

    /// Waits until another machine than this one is the only primary, and everything is served by it.
    ///
    /// - Throws: `TestTimeout`.
    package func expectSuccessor(of old: Machine) async throws {
        try await eventually("another primary than \(old.name)") {
            let found = await cluster.primaries()
            if found.count > 1 { add("two primaries at once: \(found.map(\.name))") }
            return found.count == 1 && found.first?.number != old.number ? true : nil
        }
        try await expectServed()
    }

    /// Waits until both servers say that they are not ready.
    ///
    /// - Throws: `TestTimeout`.
    package func expectNotReady() async throws {
        try await eventually("both servers to be not ready", within: .seconds(60)) {
            watch.areAllNotReady ? true : nil
        }
    }

    /// Waits until a commit on a machine waits for its standby.
    ///
    /// - Throws: `TestTimeout`, or an error of the database.
    package func expectWaitingCommit(on machine: Machine) async throws {
        let session = Session(
            url: cluster.url(of: "ledger", on: machine), applicationName: "failover trial")
        try await eventually("a commit to wait for a standby") {
            try await session.run { connection in
                try connection.query(
                    Statement(
                        "waiting_commits",
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                ).int8(0, 0) > 0
            } ? true : nil
        }
        await session.close()
    }

    private func add(_ finding: String) {
        state.withLock { state in
            if !state.findings.contains(finding) { state.findings.append(finding) }
        }
    }

    private func outcome(of fault: String) async throws -> Outcome {
        let outcome = try await FaultTrial.Outcome(
            of: fault, rounds: rounds.count, traffic: traffic, deployment: deployment,
            recovery: state.withLock(\.recovery)
        ) { try await cluster.corruption(in: "ledger") }
        try await compareCopies()
        let seal = try await sealersJudgement()
        watch.findings.forEach(add)
        let (pause, findings) = state.withLock { ($0.longestPause, $0.findings) }
        try FaultReport.add(
            outcome,
            [
                "without_writes_seconds": FaultReport.seconds(pause),
                "not_ready_after_seconds": watch.slowestNotice.map(FaultReport.seconds),
                "sealer": seal, "findings": findings,
                "network": cluster.network.refusal == nil ? "namespaces" : "loopback",
            ])
        return Outcome(faults: outcome, findings: findings)
    }

    /// Compares the logs of the three machines when no one writes.
    private func compareCopies() async throws {
        var digests: [String] = []
        do {
            try await eventually("three equal copies of the log", within: .seconds(60)) {
                digests = []
                for machine in cluster.machines {
                    digests.append(await digestOfLog(on: machine))
                }
                return Set(digests).count == 1 ? true : nil
            }
        } catch is TestTimeout {
            add("the copies of the log differ: \(digests)")
        }
    }

    /// Returns a digest of the log on one machine, or the reason for its absence.
    private func digestOfLog(on machine: Machine) async -> String {
        let session = Session(
            url: cluster.url(of: "ledger", on: machine), applicationName: "failover trial")
        let digest: String
        do {
            digest = try await session.run { connection in
                try connection.query(
                    Statement(
                        "digest_of_log",
                        """
                        SELECT md5(string_agg(md5(e::text), '' ORDER BY tenant_id, position))
                        FROM events e
                        """)
                ).text(0, 0)
            }
        } catch {
            digest = "\(machine.name): \(error)"
        }
        await session.close()
        return digest
    }

    /// Returns the sealer's judgement in words, after every event is signed or refused.
    private func sealersJudgement() async throws -> String {
        let events = try await eventCount()
        do {
            try await eventually("every event to be signed", within: .seconds(60)) {
                try await watch.signedSize() >= events ? true : nil
            }
        } catch is TestTimeout {
            add("of \(events) events, \(try await watch.signedSize()) are signed")
        }
        let refusals = watch.refusals
        refusals.forEach(add)
        let kept = try await watch.keptCheckpoints(comparedBy: deployment)
        kept.findings.forEach(add)
        return refusals.isEmpty && kept.findings.isEmpty
            ? "signs; of \(kept.count) kept checkpoints the smallest and the largest hold"
            : "refuses"
    }

    private func eventCount() async throws -> Int {
        let session = Session(url: deployment.superuserURL, applicationName: "failover trial")
        let count = try await session.run { connection in
            try connection.query(
                Statement(
                    "events_of_default", "SELECT count(*) FROM events WHERE tenant_id = 'default'")
            ).int8(0, 0)
        }
        await session.close()
        return Int(count)
    }
}
