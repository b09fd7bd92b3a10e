extension FaultTrial {
    /// The outcome of a trial.
    package struct Outcome: Sendable {
        package let fault: String
        package let rounds: Int
        package let count: TrafficCount
        package let reckoning: LogComparison
        /// Sessions and links that were acknowledged and did not work afterwards.
        package let broken: [String]
        /// The longest recovery time of a round, from the end of the fault.
        package let recovery: Duration
        /// The exit status and the output of `verify`.
        package let verified: CommandLineTool.Outcome
        /// The findings of `pg_amcheck --heapallindexed`; empty without any.
        package let corruption: String

        /// Compares the answers to clients that have finished with the log, and checks the database.
        ///
        /// - Parameters:
        ///   - fault: the fault's name in the report.
        ///   - rounds: the number of rounds.
        ///   - traffic: the clients.
        ///   - deployment: the installation.
        ///   - recovery: the longest recovery time.
        ///   - findCorruption: returns the findings of `pg_amcheck`.
        /// - Throws: an error of the database, or `TestTimeout`.
        init(
            of fault: String, rounds: Int, traffic: Traffic, deployment: Deployment,
            recovery: Duration, corruption findCorruption: () async throws -> String
        ) async throws {
            self.fault = fault
            self.rounds = rounds
            self.recovery = recovery
            let server = try await deployment.serve()
            broken = try await traffic.brokenGuarantees(on: server.client)
            reckoning = try await LogComparison(traffic.commands, logAt: deployment.superuserURL)
            var verified = try await deployment.tool.run(["verify"])
            // The projections may still be catching up.
            for _ in 0..<20 where verified.status != 0 {
                try await Task.sleep(for: .milliseconds(500))
                verified = try await deployment.tool.run(["verify"])
            }
            self.verified = verified
            corruption = try await findCorruption()
            count = traffic.count
        }
    }
}

extension Traffic {
    /// Returns sessions that can no longer be refreshed, and links to wrong accounts, on a server if not on the one
    /// of each session.
    func brokenGuarantees(on server: WireClient? = nil) async throws -> [String] {
        var broken: [String] = []
        for session in openSessions.shuffled().prefix(60) {
            let client = server ?? session.target
            let refreshed = try await client.call(
                "POST", "/v1/auth/refresh", ["refresh_token": session.refreshToken])
            if refreshed.status != 200 {
                broken.append("\(session.subject): a session ended by itself")
            }
            let signedIn = try await client.call(
                "POST", "/v1/auth/sign-in/google",
                ["id_token": google.token(subject: session.subject)])
            if signedIn.text("user_id") != session.userID {
                broken.append("\(session.subject): the link leads elsewhere")
            }
        }
        return broken
    }
}
