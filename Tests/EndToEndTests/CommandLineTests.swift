import LedgerTestSupport
import Postgres
import Testing

/// The executable's help, usage errors, configuration and migration.
@Suite struct CommandLineTests {
    @Test(arguments: [
        [], ["serve"], ["migrate"], ["export"], ["replay"], ["rebuild"], ["verify"], ["keys"],
        ["keys", "init"], ["keys", "api"], ["keys", "api", "create"], ["keys", "api", "list"],
        ["keys", "api", "revoke"], ["access-log"], ["tenant"], ["tenant", "create"],
        ["tenant", "list"], ["webhooks"], ["webhooks", "add"], ["webhooks", "list"],
        ["webhooks", "rotate-secret"], ["webhooks", "dead-letters"], ["webhooks", "replay"],
    ])
    func `every subcommand explains itself`(subcommand: [String]) async throws {
        let outcome = try await CommandLineTool(environment: [:]).run(subcommand + ["--help"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Usage: account-ledger"))
        #expect(outcome.errors.isEmpty)
    }

    @Test(arguments: [
        ["nonsense"], ["serve", "now"], ["export"], ["export", "--all"],
        ["export", "--all", "--output", "x", "--format", "xml"],
        ["export", "--all", "--output", "x", "--disclose"], ["verify", "--vkey", "x"],
        ["verify", "--offline", "x", "--vkey", "x"], ["verify", "--offline", "x", "--tenant", "a"],
        ["replay", "--bogus"], ["replay", "-x"], ["replay", "--account"],
        ["replay", "--account", "not-an-id"], ["replay"], ["replay", "--from", "x"],
        ["replay", "--from", "-1"], ["replay", "--format", "xml", "--from", "0"], ["rebuild"],
        ["rebuild", "nothing"], ["rebuild", "former_emails", "--online"], ["tenant", "create"],
        ["tenant", "create", "NOT A NAME"], ["keys"],
        ["keys", "api"], ["keys", "api", "lend"], ["access-log", "--from", "yesterday"],
    ])
    func `a usage error is one clear line`(arguments: [String]) async throws {
        try await expectUsageError(arguments)
    }

    @Test(arguments: [
        ("LEDGER_MODE", "prod"), ("LEDGER_LISTEN", "8080"), ("LEDGER_LISTEN", "127.0.0.1:99999"),
        ("LEDGER_ADMIN_LISTEN", "nowhere"), ("LEDGER_PROVIDERS", "/nonexistent/providers.json"),
        ("LEDGER_TRUSTED_PROXIES", "10.0.0.0/99"), ("LEDGER_CORS_ORIGINS", "*"),
        ("LEDGER_ACCESS_TOKEN_SECONDS", "ten"), ("LEDGER_ACCESS_TOKEN_SECONDS", "0"),
        ("LEDGER_LINK_LIMIT", "-1"), ("LEDGER_QUEUE_LIMIT", "0"), ("LEDGER_LOG_LEVEL", "loud"),
        ("LEDGER_DOCS", "maybe"),
        ("DATABASE_URL", "postgresql://who:hunter2@127.0.0.1:1/none"), ("DATABASE_URL", ""),
    ])
    func `a wrong value ends the start with one line that names it`(
        name: String, value: String
    ) async throws {
        try await Deployment.with(settings: [name: value]) { deployment in
            let outcome = try await deployment.tool.run(["serve"])
            #expect(outcome.status != 0)
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 1, "\(outcome.errors)")
            #expect(lines.last?.contains(name) == true, "\(outcome.errors)")
            #expect(!outcome.errors.contains("hunter2"))
        }
    }

    @Test(arguments: [
        ("{", "JSON"), ("{}", "providers"),
        ("{\"providers\":[{\"name\":\"google\",\"type\":\"saml\"}]}", "type"),
        (provider("\"jwks_uri\":\"http://keys.example/jwks\""), "jwks_uri"),
        (provider("\"jwks_uri\":\"https://keys.example/jwks\",\"colour\":\"red\""), "colour"),
        (
            provider("\"jwks_uri\":\"https://keys.example/jwks\",\"algorithms\":[\"none\"]"),
            "algorithms"
        ), (provider("\"jwks_uri\":\"https://keys.example/jwks\",\"nonce\":\"maybe\""), "nonce"),
    ])
    func `a wrong providers file is refused with the location`(
        text: String, location: String
    ) async throws {
        try await Deployment.with { deployment in
            let path = try deployment.write(text, to: "wrong.json")
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(["LEDGER_PROVIDERS": path]) { $1 })
            let outcome = try await tool.run(["serve"])
            #expect(outcome.status == 1)
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.contains("LEDGER_PROVIDERS"), "\(outcome.errors)")
            #expect(outcome.errors.contains(location), "\(outcome.errors)")
        }
    }

    @Test func `the id of a key may begin with a dash`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let outcome = try await deployment.tool.run(["keys", "remove", "token", "-tXk3"])
            #expect(outcome.status == 1 && !outcome.errors.contains("option"), "\(outcome.errors)")
        }
    }

    @Test func `migrating again changes nothing, and serving requires a migrated database`()
        async throws
    {
        try await PrivateCluster.with { cluster in
            let tool = CommandLineTool(environment: [
                "DATABASE_URL": cluster.url, "LEDGER_KEYS": "/nonexistent",
                "LEDGER_MODE": "development", "LEDGER_LISTEN": "127.0.0.1:0",
            ])
            let early = try await tool.run(["serve"])
            #expect(early.status == 1)
            #expect(early.errors.contains("migrate"), "\(early.errors)")
            let first = try await tool.run(["migrate"])
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.output.contains("append-only"))
            let again = try await tool.run(["migrate"])
            #expect(again.status == 0)
            let session = Session(url: cluster.url, applicationName: "test")
            try await session.run { connection in
                try connection.execute(
                    """
                    INSERT INTO ledger_migrations (version, name, sha256)
                    VALUES (999, 'V999_future.sql', '\\x00')
                    """)
            }
            let newer = try await tool.run(["migrate"])
            #expect(newer.status == 1)
            #expect(newer.errors.contains("999"), "\(newer.errors)")
        }
    }

    private static func provider(_ members: String) -> String {
        """
        {"providers":[{"name":"google","type":"oidc","issuer":"https://google.example",
        "audiences":["x"],\(members)}]}
        """
    }
}
