import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// A worker of Citus fails, while tenants on it and on the other one are served.
///
/// One after another, because each looks at times and has clusters of its own.
@Suite(.serialized, .enabled(if: !TestCluster.workers.isEmpty)) struct WorkerFaultTests {
    /// The longest time without commands of the tenants on the worker that has not failed, beside other tests: on a
    /// quiet machine it is seconds.
    private static let longestPause = Duration.seconds(30)

    private static func expectSurvived(
        _ outcome: WorkerTrial.Outcome, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (count, reckoning) = (outcome.count, outcome.reckoning)
        let findings: [(String, Bool)] = [
            ("lost \(reckoning.lost): \(reckoning.findings)", reckoning.lost == 0),
            ("doubled \(reckoning.doubled): \(reckoning.findings)", reckoning.doubled == 0),
            ("halves \(reckoning.halves): \(reckoning.findings)", reckoning.halves == 0),
            ("broken promises: \(outcome.broken)", outcome.broken.isEmpty),
            ("unexpected answers: \(count.surprises)", count.surprises.isEmpty),
            ("503 without Retry-After: \(count.withoutRetryAfter)", count.withoutRetryAfter == 0),
            ("no 503: the fault was not felt", count.unavailable > 0),
            ("others waited \(outcome.othersPause)", outcome.othersPause <= longestPause),
            (
                "slowest answer \(count.slowestAnswer)",
                count.slowestAnswer <= FaultTests.slowestAnswer
            ),
            ("prepared transactions: \(outcome.unresolved)", outcome.unresolved == 0),
            ("verify: \(outcome.verified.output)", outcome.verified.status == 0),
        ]
        for (finding, isWell) in findings {
            #expect(
                isWell, "\(outcome.fault): \(finding.prefix(2_000))",
                sourceLocation: sourceLocation)
        }
    }

    @Test func `a worker is killed and starts again`() async throws {
        let outcome = try await WorkerTrial.run("kill -9 of every process of a worker") { trial in
            for _ in 0..<2 {
                try await trial.round {
                    try await trial.worker.cluster.kill()
                    try await trial.expectOthersServed(since: .now)
                    try await trial.worker.cluster.start()
                    return .now
                }
            }
        }
        Self.expectSurvived(outcome)
    }

    @Test func `a worker is stopped at once and starts again`() async throws {
        let outcome = try await WorkerTrial.run("pg_ctl stop -m immediate of a worker") { trial in
            for _ in 0..<2 {
                try await trial.round {
                    try await trial.worker.cluster.stop(mode: "immediate")
                    try await trial.expectOthersServed(since: .now)
                    try await trial.worker.cluster.start()
                    return .now
                }
            }
        }
        Self.expectSurvived(outcome)
    }

    /// Connections stay open and silent, and new ones get no answer.
    @Test func `a worker is cut off and comes back`() async throws {
        let outcome = try await WorkerTrial.run("a worker that no node reaches") { trial in
            for _ in 0..<2 {
                try await trial.round {
                    let begun = ContinuousClock.now
                    trial.worker.proxy.hold()
                    try await trial.expectOthersServed(since: begun)
                    try await Task.sleep(until: begun + .seconds(20), clock: .continuous)
                    trial.worker.proxy.forward()
                    return .now
                }
            }
        }
        Self.expectSurvived(outcome)
    }

    /// The worker has committed and dies before it says so: its commit waits for a standby that does not exist.
    @Test func `a command with an unknown outcome is answered 503, and its repetition acts once`()
        async throws
    {
        try await WorkerTrial.with { trial in
            let (client, worker) = (try #require(trial.struck.first), trial.worker.cluster)
            let (apple, google) = (trial.deployment.apple, trial.deployment.google)
            var ada = Device(client)
            try await ada.signIn(apple, as: "ada")
            let operate = Session(url: worker.url, applicationName: "operator")
            try await operate.run { connection in
                try connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'none'")
                try connection.execute("SELECT pg_reload_conf()")
            }
            // Commits wait for nothing until the server has read the setting.
            let probe = Task {
                let session = Session(url: worker.url, applicationName: "probe")
                while !Task.isCancelled {
                    try await session.run {
                        try $0.execute("SELECT pg_logical_emit_message(true, 'probe', '')")
                    }
                }
            }
            defer { probe.cancel() }
            try await eventually("commits to wait on the worker") {
                try await worker.processes(
                    where: "wait_event = 'SyncRep' AND application_name = 'probe'"
                ).isEmpty ? nil : true
            }
            // For the next start.
            try await operate.run {
                try $0.execute("ALTER SYSTEM RESET synchronous_standby_names")
            }
            await operate.close()
            let (token, access) = (google.token(subject: "ada"), ada.accessToken)
            let link: @Sendable () async throws -> WireClient.Answer = {
                try await client.call(
                    "POST", "/v1/auth/link/google", ["id_token": token], token: access,
                    key: "the-same-key")
            }
            let unknown = Task { try await link() }
            try await eventually("the commit to wait on the worker") {
                try await worker.processes(
                    where: "wait_event = 'SyncRep' AND usename = 'ledger_app'"
                ).isEmpty ? nil : true
            }
            try await worker.kill()
            await #expect(throws: (any Error).self) { try await probe.value }
            #expect(try await unknown.value.status == 503)
            try await worker.start()
            let repeated = try await eventually("the command to be answered") {
                let answer = try await link()
                return answer.status == 503 ? nil : answer
            }
            #expect(repeated.status == 200)
            let log = Session(url: trial.deployment.superuserURL, applicationName: "log")
            let links = try await log.run {
                try $0.query(
                    Statement("links", "SELECT count(*) FROM events WHERE type = 'ProviderLinked'")
                ).int8(0, 0)
            }
            await log.close()
            #expect(links == 2, "that of the sign-up, and one")
            #expect(try await trial.cluster.unresolvedTransactions() == 0)
            let verified = try await trial.deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.output)")
        }
    }
}
