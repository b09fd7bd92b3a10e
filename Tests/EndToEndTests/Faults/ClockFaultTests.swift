import Foundation
import LedgerTestSupport
import Postgres
import Testing

extension FaultTests {
    /// Clocks that step back an hour, as when they are set by hand.
    @Suite(.serialized) struct Clocks {
        private static let hour = 3_600

        /// ID tokens that are valid before and after the step.
        private static var setup: FaultTrial.Setup {
            var setup = FaultTrial.Setup()
            let now = Int(Date().timeIntervalSince1970)
            setup.rounds = 1
            setup.claims = ["iat": "\(now - 2 * hour)", "exp": "\(now + 2 * hour)"]
            setup.settings = ["LEDGER_REAUTHENTICATION_SECONDS": "86400"]
            return setup
        }

        @Test func `recorded times never go back when Postgres's clock does`() async throws {
            let switches = try await FaultSwitches()
            var setup = Self.setup
            setup.clusterEnvironment = switches.environment
            let fault = "clock of Postgres back an hour"
            let outcome = try await FaultTrial.run(fault, setup) { trial in
                _ = try await trial.serve()
                for _ in trial.rounds {
                    try await trial.round {
                        try switches.begin(.clock, -Self.hour)
                        try await eventually("the clock of Postgres to be back") {
                            try await hourIsBack(trial.cluster) ? true : nil
                        }
                        try await workGoesOn(trial)
                        try switches.end(.clock)
                        return .now
                    }
                }
            }
            // `verify` refuses a time that goes back.
            FaultTests.expectSurvived(outcome)
            #expect(outcome.count.unavailable == 0)
        }

        @Test func `a server whose clock steps back accepts no token from the future`()
            async throws
        {
            let switches = try await FaultSwitches()
            var setup = Self.setup
            setup.settings.merge(switches.environment) { $1 }
            // Clients with an access token from before the step refresh on this code.
            setup.excused = ["401 INVALID_ACCESS_TOKEN"]
            let fault = "clock of the server back an hour"
            let outcome = try await FaultTrial.run(fault, setup) { trial in
                let server = try await trial.serve()
                for round in trial.rounds {
                    try await trial.round {
                        try switches.begin(.clock, -Self.hour)
                        let token = trial.deployment.apple.token(subject: "early-\(round)")
                        try await eventually("a token from the future to be refused") {
                            try await server.client.call(
                                "POST", "/v1/auth/sign-in/apple", ["id_token": token]
                            ).errorCode == "INVALID_PROVIDER_TOKEN" ? true : nil
                        }
                        try await workGoesOn(trial)
                        try switches.end(.clock)
                        return .now
                    }
                }
            }
            FaultTests.expectSurvived(outcome)
            #expect(outcome.count.unavailable == 0)
        }

        private func workGoesOn(_ trial: FaultTrial) async throws {
            let before = trial.traffic.count.acknowledged
            try await eventually("work to be acknowledged before its time") {
                trial.traffic.count.acknowledged >= before + 60 ? true : nil
            }
        }

        private func hourIsBack(_ cluster: PrivateCluster) async throws -> Bool {
            let session = Session(url: cluster.url, applicationName: "clock watch")
            let seconds = try await session.run { connection in
                try connection.query(
                    Statement("clock", "SELECT extract(epoch FROM clock_timestamp())::bigint")
                ).int8(0, 0)
            }
            await session.close()
            return Int64(Date().timeIntervalSince1970) - seconds > 3_000
        }
    }
}
