import Foundation
import LedgerTestSupport
import Testing

/// ID tokens that sign in once, from the providers file to the database.
@Suite struct SingleUseTests {
    @Test func `a tenant with single-use ID tokens accepts each for one sign-in, in every process`()
        async throws
    {
        try await Deployment.with { deployment in
            let file = Deployment.providersFile(google: deployment.google, apple: deployment.apple)
            let strict = file.dropLast() + ",\"single_use_id_tokens\":true}"
            let path = try deployment.write(
                "{\"tenants\":{\"default\":\(strict),\"acme\":\(file)}}", to: "single-use.json")
            let settings = ["LEDGER_PROVIDERS": path]
            _ = try await deployment.tool.run(["tenant", "create", "acme"])
            let first = try await deployment.serve(settings: settings)
            let second = try await deployment.serve(settings: settings)
            let body = ["id_token": deployment.google.token(subject: "ada")]
            func signIn(_ server: ServerProcess, _ tenant: String = "") async throws -> Int {
                try await server.client.call("POST", "\(tenant)/v1/auth/sign-in/google", body)
                    .status
            }
            for server in [first, second] {
                #expect(try await signIn(server) == 200)
                #expect(try await signIn(server, "/t/acme") == 200)
            }
            let moved = try await deployment.asSuperuser(
                """
                UPDATE spent_id_tokens SET first_used_at = first_used_at - interval '1 min'
                RETURNING tenant_id || ' ' || octet_length(digest)
                """)
            #expect(moved == ["default 32"])
            try await first.kill()
            let third = try await deployment.serve(settings: settings)
            for server in [second, third] {
                let refused = try await server.client.call(
                    "POST", "/v1/auth/sign-in/google", body)
                #expect(refused.status == 401 && refused.errorCode == "INVALID_PROVIDER_TOKEN")
                #expect(try await signIn(server, "/t/acme") == 200)
            }
            let verified = try await deployment.tool.run(["verify"])
            #expect(verified.status == 0, "\(verified.errors)")
        }
    }
}
