import LedgerTestSupport
import Postgres
import Testing

/// The executable's help, usage errors, configuration and migration.
@Suite struct CommandLineTests {
    @Test func `help is printed, and a usage error is one line with the exit code 64`() async throws
    {
        let tool = CommandLineTool(environment: [:])
        for words in [["--help"], ["keys", "--help"], ["serve", "--help"]] {
            let outcome = try await tool.run(words)
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            #expect(outcome.output.contains("Usage: account-ledger"))
        }
        for words in [[], ["nonsense"], ["replay", "--account", "not-an-id"]] {
            let outcome = try await tool.run(words)
            #expect(outcome.status == 64 && outcome.output.isEmpty)
            #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
        }
    }

    @Test(arguments: [
        ("LEDGER_LOG_LEVEL", "loud"), ("LEDGER_PROVIDERS", "/nonexistent/providers.json"),
        ("DATABASE_URL", "postgresql://who:hunter2@127.0.0.1:1/none"),
    ])
    func `a wrong value ends the start with one line that names it`(
        name: String, value: String
    ) async throws {
        try await Deployment.with(settings: [name: value]) { deployment in
            let outcome = try await deployment.tool.run(["serve"])
            #expect(outcome.status == 1)
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 1, "\(outcome.errors)")
            #expect(lines.last?.contains(name) == true, "\(outcome.errors)")
            #expect(!outcome.errors.contains("hunter2"))
        }
    }

    @Test func `a wrong providers file is refused with the location`() async throws {
        try await Deployment.with { deployment in
            let text = "{\"providers\":[{\"name\":\"google\",\"type\":\"saml\"}]}"
            let path = try deployment.write(text, to: "wrong.json")
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(["LEDGER_PROVIDERS": path]) { $1 })
            let outcome = try await tool.run(["serve"])
            #expect(outcome.status == 1)
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.contains("LEDGER_PROVIDERS"), "\(outcome.errors)")
            #expect(outcome.errors.contains("type"), "\(outcome.errors)")
        }
    }

    @Test func `the id of a key may begin with a dash`() async throws {
        try await Deployment.with { deployment in
            _ = try await deployment.serve()
            let outcome = try await deployment.tool.run(["keys", "remove", "token", "-tXk3"])
            #expect(outcome.status == 1 && !outcome.errors.contains("option"), "\(outcome.errors)")
        }
    }

    @Test func `output that can't be written is a fault`() async throws {
        let process = try RunningProcess(
            executable: "/bin/sh",
            arguments: ["-c", "exec \"$0\" --version >/dev/full", CommandLineTool.executable],
            environment: [:])
        #expect(try await process.exitStatus(within: .seconds(60)) == 1)
        #expect(process.errors.text.contains("can't write to standard output"))
    }

    @Test func `a wrong URL is reported by the name of its setting`() async throws {
        try await Deployment.with { deployment in
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging([
                    "LEDGER_MIGRATE_URL": "postgresql://127.0.0.1:1/none"
                ]) { $1 })
            _ = try await tool.run(["keys", "init"])
            let commands = [["keys", "api", "list"], ["webhooks", "list"], ["keys", "rewrap"]]
            for command in commands {
                let outcome = try await tool.run(command)
                #expect(outcome.status == 1, "\(command)")
                #expect(outcome.errors.contains("LEDGER_MIGRATE_URL: "), "\(outcome.errors)")
            }
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
}
