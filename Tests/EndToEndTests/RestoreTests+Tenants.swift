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
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                    AS 'BEGIN RAISE EXCEPTION ''refused''; END';
                CREATE TRIGGER refuse BEFORE UPDATE ON api_keys
                    FOR EACH ROW WHEN (NEW.tenant_id = 'acme') EXECUTE FUNCTION refuse()
                """, on: deployment)
            let revoked = /API key \S+ was revoked/
            let accept = ["restore-check", "--accept", "--restored", "--revoke-keys"]
            let failed = try await tool.run(accept)
            #expect(failed.status == 1 && failed.errors.contains("tenant acme was left out: "))
            #expect(failed.output.matches(of: revoked).count == 1, "\(failed)")
            #expect(failed.output.contains("now authenticates new events"), "\(failed)")
            try await run(
                """
                CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                    AS 'BEGIN RETURN NEW; END'
                """, on: deployment)
            let repeated = try await tool.run(accept)
            #expect(repeated.status == 0, "\(repeated)")
            #expect(repeated.output.matches(of: revoked).count == 1, "\(repeated)")
        }
    }
}
