import LedgerTestSupport
import Testing

/// A restore of several tenants.
extension RestoreTests {
    @Test func `a tenant whose repair fails does not keep later ones from theirs`() async throws {
        try await Deployment.with { deployment in
            let tool = tool(of: deployment)
            #expect(try await tool.run(["keys", "init"]).status == 0)
            for tenant in ["acme", "zeta"] {
                #expect(try await tool.run(["tenant", "create", tenant]).status == 0)
                let key = try await tool.run([
                    "keys", "api", "create", "--role", "auditor", "--label", "test", "--tenant",
                    tenant,
                ])
                #expect(key.status == 0, "\(key.errors)")
            }
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(
                """
                ALTER TABLE api_keys ADD CONSTRAINT kept
                    CHECK (tenant_id <> 'acme' OR revoked_at IS NULL)
                """, on: deployment)
            let accept = ["restore-check", "--accept", "--restored", "--revoke-keys"]
            let failed = try await tool.run(accept)
            #expect(failed.status == 1 && failed.errors.contains("tenant acme was left out: "))
            #expect(failed.output.matches(of: /was revoked/).count == 1, "\(failed)")
            #expect(failed.output.contains("now authenticates new events"), "\(failed)")
            try await run("ALTER TABLE api_keys DROP CONSTRAINT kept", on: deployment)
            let repeated = try await tool.run(accept)
            #expect(repeated.status == 0, "\(repeated)")
            #expect(repeated.output.matches(of: /was revoked/).count == 1, "\(repeated)")
        }
    }
}
