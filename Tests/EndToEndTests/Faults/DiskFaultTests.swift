import LedgerTestSupport
import Testing

extension FaultTests {
    /// Faults of Postgres's disk.
    @Suite(.serialized) struct Disk {
        @Test func `a full disk is a 503 until there is room`() async throws {
            let switches = try await FaultSwitches()
            var setup = FaultTrial.Setup()
            setup.clusterEnvironment = switches.environment
            let outcome = try await FaultTrial.run("full disk of Postgres", setup) { trial in
                let server = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let before = trial.traffic.count.unavailable
                        try switches.begin(.diskFull)
                        // Tables have some room in their last pages, so this takes a while.
                        try await eventually("the disk to be full", within: .seconds(60)) {
                            trial.traffic.count.unavailable >= before + 20 ? true : nil
                        }
                        try await eventually("readiness to notice", within: .seconds(60)) {
                            try await server.client.call("GET", "/readyz").status == 503
                                ? true : nil
                        }
                        try switches.end(.diskFull)
                        // Without space for its own log Postgres ends; its supervisor restarts it.
                        if !trial.cluster.isRunning { try await trial.cluster.start() }
                        return .now
                    }
                }
                try await eventually("the server to be ready again") {
                    try await server.client.call("GET", "/readyz").status == 200 ? true : nil
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `a slow disk makes answers slow and nothing worse`() async throws {
            let switches = try await FaultSwitches()
            var setup = FaultTrial.Setup()
            setup.rounds = 1
            setup.clusterEnvironment = switches.environment
            let outcome = try await FaultTrial.run("slow disk: 300 ms a flush", setup) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let before = trial.traffic.count.acknowledged
                        try switches.begin(.diskSlow, 300)
                        try await eventually("answers on the slow disk", within: .seconds(60)) {
                            trial.traffic.count.acknowledged >= before + 30 ? true : nil
                        }
                        try switches.end(.diskSlow)
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `a disk that stalls is a 503 with an unknown outcome`() async throws {
            let switches = try await FaultSwitches()
            var setup = FaultTrial.Setup()
            setup.rounds = 1
            setup.clusterEnvironment = switches.environment
            let outcome = try await FaultTrial.run("stalled disk: 12 s a flush", setup) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let before = trial.traffic.count.unavailable
                        try switches.begin(.diskSlow, 12_000)
                        try await eventually("clients to be told", within: .seconds(60)) {
                            trial.traffic.count.unavailable >= before + 8 ? true : nil
                        }
                        try switches.end(.diskSlow)
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
            // A stalled flush cannot be cancelled, and its transaction holds the head.
        }
    }
}
