import LedgerTestSupport
import Testing

/// A restore that brings back an account which a legal hold keeps.
extension RestoreTests {
    @Test func `a hold in one tenant keeps its account, and no other tenant its former name`()
        async throws
    {
        try await Deployment.with { deployment in
            let tool = tool(of: deployment)
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let settings = [
                "LEDGER_PROVIDERS": try deployment.write(
                    "{\"tenants\":{\"default\":\(file),\"zeta\":\(file)}}", to: "two.json")
            ]
            #expect(try await tool.run(["keys", "init"]).status == 0)
            #expect(try await tool.run(["tenant", "create", "zeta"]).status == 0)
            var server = try await deployment.serve(settings: settings)
            var ada = Device(server.client)
            try await ada.signIn(deployment.apple, as: "ada")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.backUp, on: deployment)
            server = try await deployment.serve(settings: settings)
            let bob = try await server.client.call(
                "POST", "/t/zeta/v1/auth/sign-in/google",
                ["id_token": deployment.google.token(subject: "bob")])
            #expect(bob.status == 200)
            try await server.stop()
            let reason = ["--reason", "case 7"]
            #expect(try await tool.run(["erase", ada.userID] + reason).status == 0)
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)
            #expect(try await tool.run(["hold", "set", ada.userID] + reason).status == 0)

            let accepted = try await tool.run(["restore-check", "--accept"])
            #expect(accepted.status == 0, "\(accepted.output)\(accepted.errors)")
            for tenant in ["default", "zeta"] {
                #expect(accepted.output.contains("continues as \(Self.origin)/\(tenant)/2"))
            }
            let found = try await tool.run(["restore-check"])
            #expect(found.status == 1 && !found.output.contains("LOST"), "\(found.output)")
            #expect(found.output.contains("is under a hold set since then"), "\(found.output)")
        }
    }
}
