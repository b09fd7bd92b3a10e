import LedgerTestSupport
import Testing

extension FaultTests {
    /// Faults between a server and Postgres.
    @Suite(.serialized) struct Network {
        private static var proxied: FaultTrial.Setup {
            var setup = FaultTrial.Setup()
            setup.isProxied = true
            setup.rounds = 1
            return setup
        }

        @Test func `connections refused are tried again until they are taken`() async throws {
            let outcome = try await FaultTrial.run("connections refused", Self.proxied) { trial in
                let server = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        try await trial.proxy.stop()
                        try await eventually("readiness to notice") {
                            try await server.client.call("GET", "/readyz").status == 503
                                ? true : nil
                        }
                        try await Task.sleep(for: .seconds(2))
                        try await trial.restartProxy()
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
            #expect(outcome.count.unavailable > 0)
        }

        @Test func `a connection that hangs is given up and replaced`() async throws {
            let outcome = try await FaultTrial.run("connection hangs", Self.proxied) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let before = trial.traffic.count.unavailable
                        try trial.proxy.hold()
                        // Long enough that a second attempt also gets no answer.
                        try await eventually("every client to hear of it", within: .seconds(40)) {
                            trial.traffic.count.unavailable >= before + 16 ? true : nil
                        }
                        try trial.proxy.forward()
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `a connection without its server end is given up`() async throws {
            let outcome = try await FaultTrial.run(
                "half-open: the server's end is gone", Self.proxied
            ) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let cut = ContinuousClock.now
                        try trial.proxy.loseServers()
                        return cut
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }

        @Test func `a transaction whose client is gone lets the head go`() async throws {
            let outcome = try await FaultTrial.run(
                "half-open: the client's end is gone", Self.proxied
            ) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        let cut = ContinuousClock.now
                        try trial.proxy.loseClients()
                        return cut
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
        }
    }
}
