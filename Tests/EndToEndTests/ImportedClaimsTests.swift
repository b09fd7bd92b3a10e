import LedgerTestSupport
import Testing

/// Imports into a tenant that confirms addresses later.
@Suite(.timeLimit(.minutes(5))) struct ImportedClaimsTests {
    @Test func `an unverified address signs in by its imported password`() async throws {
        try await Deployment.with(settings: ["LEDGER_MODE": "development"]) { deployment in
            try deployment.confirmLater()
            let server = try await deployment.serve()
            let hash = ImportAccountsTests.bcrypt
            let path = try deployment.write(
                """
                {"user_id":"auth0|eve","email":"eve@x.test","email_verified":false,"identities":[{"user_id":"eve","provider":"auth0"}],"password_hash":"\(hash)"}
                """, to: "users.json")
            let imported = try await deployment.tool.run([
                "import", "auth0", path, "--reason", "the move",
            ])
            #expect(imported.status == 0, "\(imported)")
            #expect(
                imported.output.contains(
                    "accounts 1, external ids 1, identities 1, addresses 1, passwords 1"),
                "\(imported)")
            let eve = try await server.client.call(
                "POST", "/v1/auth/sign-in/password", ["email": "eve@x.test", "password": "U*U"])
            #expect(eve.status == 200, "\(eve)")
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified)")
            #expect(try await server.stop() == 0)
        }
    }
}
