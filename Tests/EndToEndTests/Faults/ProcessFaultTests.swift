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

        @Test func `an immediate stop of Postgres loses nothing, and service resumes`() async throws
        {
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

        /// The activity of a server when it freezes.
        enum Holder: String, CaseIterable {
            case sequencer = "account-ledger sequencer"
            case projector = "account-ledger projector"

            var fault: String {
                switch self {
                case .sequencer: "SIGSTOP of one of two servers that holds the head's lock"
                case .projector: "SIGSTOP of one of two servers that is folding"
                }
            }

            /// Its connections that hold a lock and for which Postgres has waited for a while: between two
            /// commands, or while they are sent.
            var isWaitedFor: String {
                """
                application_name = '\(rawValue)' AND backend_xid IS NOT NULL
                    AND xact_start < clock_timestamp() - interval '100 milliseconds'
                    AND (state LIKE 'idle in%' OR state = 'active' AND wait_event_type = 'Client')
                """
            }
        }

        @Test(arguments: Holder.allCases)
        func `a server frozen with a lock holds the others up for seconds only`(
            _ holder: Holder
        ) async throws {
            let outcome = try await FaultTrial.run(holder.fault) { trial in
                let frozen = try await trial.deployment.serve()
                let other = try await trial.deployment.serve()
                for _ in trial.rounds {
                    trial.traffic.aim(at: [frozen, other])
                    try await trial.round {
                        try await eventually("a lock to be held by a frozen server") {
                            frozen.process.send(SIGSTOP)
                            trial.traffic.aim(at: [other])
                            try await Task.sleep(for: .milliseconds(150))
                            let held = try await trial.cluster.processes(where: holder.isWaitedFor)
                            if !held.isEmpty { return true }
                            trial.traffic.aim(at: [frozen, other])
                            frozen.process.send(SIGCONT)
                            return nil
                        }
                        let stopped = ContinuousClock.now
                        try await eventually("the other server to go on") {
                            trial.traffic.isServed(since: stopped) ? true : nil
                        }
                        // Less than the projector's statements may take.
                        #expect(ContinuousClock.now - stopped < .seconds(8))
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
