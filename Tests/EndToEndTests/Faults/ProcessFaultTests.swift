import Foundation
import LedgerTestSupport
import Testing

extension FaultTests {
    /// Processes that die or freeze.
    @Suite(.serialized) struct Processes {
        @Test func `kill -9 of the server loses and doubles nothing`() async throws {
            var setup = FaultTrial.Setup()
            setup.rounds = 3
            let outcome = try await FaultTrial.run("kill -9 of the server", setup) { trial in
                var server = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        try await server.kill()
                        let died = ContinuousClock.now
                        server = try await trial.serve()
                        return died
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `kill -9 of a Postgres backend ends all connections and nothing else`()
            async throws
        {
            let outcome = try await FaultTrial.run("kill -9 of a Postgres backend") { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let killed = try await trial.cluster.killBackends(
                            ofApplication: "account-ledger sequencer")
                        #expect(killed == 1)
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `Postgres stopped at once loses nothing and is taken up again`() async throws {
            let outcome = try await FaultTrial.run("pg_ctl stop -m immediate") { trial in
                let server = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        try await trial.cluster.stop(mode: "immediate")
                        try await eventually("readiness to notice") {
                            try await server.client.call("GET", "/readyz").status == 503
                                ? true : nil
                        }
                        #expect(try await server.client.call("GET", "/healthz").status == 200)
                        try await trial.cluster.start()
                        return .now
                    }
                }
                try await eventually("the server to be ready again") {
                    try await server.client.call("GET", "/readyz").status == 200 ? true : nil
                }
            }
            FaultTests.expectSurvived(outcome)
            #expect(outcome.count.unavailable > 0)
        }

        @Test func `a server frozen with the head's lock holds the others up for seconds only`()
            async throws
        {
            let fault = "SIGSTOP of one of two servers that holds the head's lock"
            let outcome = try await FaultTrial.run(fault) { trial in
                let frozen = try await trial.deployment.serve()
                let other = try await trial.deployment.serve()
                let holds = "account-ledger sequencer"
                for _ in trial.rounds {
                    trial.traffic.aim(at: [frozen, other])
                    try await trial.round {
                        try await eventually("the head's lock to be held by a frozen server") {
                            frozen.process.send(SIGSTOP)
                            trial.traffic.aim(at: [other])
                            let idle = try await trial.cluster.processes(
                                where: "application_name = '\(holds)' AND state LIKE 'idle in%'")
                            try await Task.sleep(for: .milliseconds(100))
                            let still = try await trial.cluster.processes(
                                where: "application_name = '\(holds)' AND state LIKE 'idle in%'")
                            if !Set(idle).isDisjoint(with: still) { return true }
                            trial.traffic.aim(at: [frozen, other])
                            frozen.process.send(SIGCONT)
                            return nil
                        }
                        let stopped = ContinuousClock.now
                        try await eventually("the other server to go on") {
                            trial.traffic.isServed(since: stopped) ? true : nil
                        }
                        #expect(ContinuousClock.now - stopped < .seconds(5))
                        try await Task.sleep(until: stopped + .seconds(3), clock: .continuous)
                        frozen.process.send(SIGCONT)
                        trial.traffic.aim(at: [frozen, other])
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }
    }
}
