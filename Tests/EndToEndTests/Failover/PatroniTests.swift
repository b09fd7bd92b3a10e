import Foundation
import LedgerTestSupport
import Testing

/// Failovers of the set-up in `docs/operating/failover.md`, for `tools/chaos --failover`.
///
/// One after another, because each looks at times and has three machines of its own.
@Suite(.serialized) struct PatroniTests {
    private static func expectSurvived(
        _ outcome: FailoverTrial.Outcome, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        FaultTests.expectSurvived(outcome.faults, sourceLocation: sourceLocation)
        #expect(
            outcome.findings.isEmpty, "\(outcome.faults.fault): \(outcome.findings)",
            sourceLocation: sourceLocation)
    }

    @Test func `Postgres of the primary is killed`() async throws {
        let outcome = try await FailoverTrial.run("kill -9 of the primary") { trial in
            for _ in trial.rounds {
                try await trial.round {
                    try await trial.cluster.primary().killPostmaster()
                    try await trial.expectServed()
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    @Test func `the machine of the primary dies`() async throws {
        let outcome = try await FailoverTrial.run(
            "kill -9 of every process of the primary's machine"
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    try await trial.cluster.powerOff(old)
                    try await trial.expectSuccessor(of: old)
                    try await trial.cluster.powerOn(old)
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    /// Until another standby is the synchronous one, no commit is acknowledged.
    @Test func `the machine of the synchronous standby dies`() async throws {
        let outcome = try await FailoverTrial.run(
            "kill -9 of every process of the synchronous standby's machine"
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let standby = try await trial.cluster.synchronousStandby()
                    try await trial.cluster.powerOff(standby)
                    try await trial.expectServed()
                    try await trial.cluster.powerOn(standby)
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    /// On continuing, the old primary is one until Patroni notices that its lease is over.
    @Test func `the machine of the primary freezes past its lease and continues`() async throws {
        let outcome = try await FailoverTrial.run(
            "SIGSTOP of the primary's machine past the lease"
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    try await trial.cluster.freeze(old)
                    try await trial.expectSuccessor(of: old)
                    try await trial.cluster.thaw(old)
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    @Test func `Postgres of the primary freezes past the lease and continues`() async throws {
        let outcome = try await FailoverTrial.run(
            "SIGSTOP of the primary's Postgres alone for 30 s"
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    try await old.send(SIGSTOP, to: .postgres)
                    try await Task.sleep(for: .seconds(30))
                    try await old.send(SIGCONT, to: .postgres)
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    @Test func `etcd loses its majority and gets it back`() async throws {
        let outcome = try await FailoverTrial.run("loss of etcd's majority") { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    let lost = trial.cluster.machines.filter { $0.number != old.number }
                    for machine in lost { try await machine.send(SIGKILL, to: .etcd) }
                    try await eventually("the primary to demote itself") {
                        await trial.cluster.primaries().isEmpty ? true : nil
                    }
                    try await trial.expectNotReady()
                    for machine in lost { try trial.cluster.startEtcd(on: machine) }
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    @Test func `a planned switchover`() async throws {
        let outcome = try await FailoverTrial.run("planned switchover") { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    try await trial.cluster.switchOver()
                    try await trial.expectSuccessor(of: old)
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    /// It has commits that no standby has, none of them acknowledged.
    @Test func `the old primary comes back with commits of its own`() async throws {
        let outcome = try await FailoverTrial.run(
            "the old primary comes back, with commits that no standby has"
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    let others = trial.cluster.machines.filter { $0.number != old.number }
                    for machine in others { try await machine.send(SIGSTOP, to: .postgres) }
                    try await trial.expectWaitingCommit(on: old)
                    try await trial.cluster.powerOff(old)
                    for machine in others { try await machine.send(SIGCONT, to: .postgres) }
                    try await trial.expectSuccessor(of: old)
                    trial.beginMeasuring()
                    try await trial.cluster.powerOn(old)
                    try await trial.cluster.expectWhole()
                }
            }
        }
        Self.expectSurvived(try #require(outcome))
    }

    @Test func `the primary is cut off from the other machines, and servers reach all`()
        async throws
    {
        let outcome = try await FailoverTrial.run(
            "partition: the primary alone, servers reach both sides", needsNamespaces: true
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    let others = trial.cluster.machines.filter { $0.number != old.number }
                    let network = trial.cluster.network
                    for machine in others {
                        try await network.part(old.number, from: machine.number)
                    }
                    try await trial.expectSuccessor(of: old)
                    for machine in others {
                        try await network.join(old.number, with: machine.number)
                    }
                }
            }
        }
        guard let outcome else { try Test.cancel("no network namespaces on this machine") }
        Self.expectSurvived(outcome)
    }

    @Test func `the primary is cut off from everything`() async throws {
        let outcome = try await FailoverTrial.run(
            "partition: the primary alone, unplugged", needsNamespaces: true
        ) { trial in
            for _ in trial.rounds {
                try await trial.round {
                    let old = try await trial.cluster.primary()
                    try await trial.cluster.unplug(old)
                    try await trial.expectSuccessor(of: old)
                    try await trial.cluster.plugIn(old)
                }
            }
        }
        guard let outcome else { try Test.cancel("no network namespaces on this machine") }
        Self.expectSurvived(outcome)
    }
}
