import LedgerTestSupport
import Testing

/// Device tokens over HTTP: they end with all sessions of their account, and with a restore.
@Suite(.timeLimit(.minutes(5))) struct DeviceTokenTests {
    private static let (ada, bob) = ("ada@example.com", "bob@example.com")
    private static let password = "correct horse battery staple"

    private func signUp(_ address: String, _ client: WireClient) async throws -> WireClient.Answer {
        let code = try await KeptMessages(servers: [client]).code(to: address) {
            try await client.call(
                "POST", "/v1/auth/sign-up/password",
                ["email": address, "password": Self.password])
        }
        let opened = try await client.call("POST", "/v1/auth/sign-in/password", code)
        #expect(opened.status == 200, "\(opened)")
        return opened
    }

    /// Signs in with a device token.
    ///
    /// - Returns: The token of the answer: another one, unless the device is known.
    private func signIn(
        _ address: String, _ token: String, _ client: WireClient
    ) async throws -> String {
        let answer = try await client.call(
            "POST", "/v1/auth/sign-in/password",
            ["email": address, "password": Self.password, "device_token": token])
        #expect(answer.status == 200, "\(answer)")
        return try #require(answer.text("device_token"))
    }

    /// Changes the password of an account to the same one, by a device with a token.
    ///
    /// - Returns: The token of the answer.
    private func change(
        _ address: String, _ token: String, _ client: WireClient
    ) async throws -> String {
        let opened = try await client.call(
            "POST", "/v1/auth/sign-in/password",
            ["email": address, "password": Self.password, "device_token": token])
        let answer = try await client.call(
            "POST", "/v1/account/password", ["password": Self.password, "device_token": token],
            token: opened.text("access_token"))
        #expect(answer.status == 200, "\(answer)")
        return try #require(answer.text("device_token"))
    }

    @Test func `a device is known until all sessions of its account end, or a restore is accepted`()
        async throws
    {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.configure(providers: Deployment.addressProviders)
            let restores = RestoreTests()
            let tool = restores.tool(of: deployment)
            var server = try await deployment.serve()
            let opened = try await signUp(Self.ada, server.client)
            let ada = try #require(opened.text("device_token"))
            let bob = try #require(try await signUp(Self.bob, server.client).text("device_token"))
            #expect(try await signIn(Self.ada, ada, server.client) == ada)
            let ended = try await tool.run([
                "end-sessions", try #require(opened.text("user_id")), "--reason", "stolen phone",
                "--case", "T-6",
            ])
            #expect(ended.status == 0, "\(ended.errors)")
            let again = try await signIn(Self.ada, ada, server.client)
            #expect(again != ada)
            #expect(try await signIn(Self.ada, again, server.client) == again)
            let renewed = try await change(Self.ada, again, server.client)
            #expect(renewed != again)
            #expect(try await signIn(Self.ada, again, server.client) != again)
            #expect(try await signIn(Self.ada, renewed, server.client) == renewed)
            #expect(try await signIn(Self.bob, bob, server.client) == bob)
            try await expectVerified(deployment)
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)

            try await restores.run(RestoreTests.backUp, on: deployment)
            server = try await deployment.serve()
            #expect(try await signIn(Self.ada, renewed, server.client) == renewed)
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await restores.run(RestoreTests.restore, on: deployment)
            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            server = try await deployment.serve()
            #expect(try await signIn(Self.ada, renewed, server.client) != renewed)
            #expect(try await signIn(Self.bob, bob, server.client) != bob)
        }
    }
}
