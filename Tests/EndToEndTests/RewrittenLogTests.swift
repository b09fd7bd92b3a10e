import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

/// The findings of `verify` in a log that the owner of the database has rewritten.
@Suite struct RewrittenLogTests {
    private static let origin = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]

    private func execute(_ sql: String, _ deployment: Deployment) async throws {
        let session = Session(url: deployment.superuserURL, applicationName: "rewriting test")
        try await session.run { try $0.execute(sql) }
        await session.close()
    }

    @Test func `without its guards a log does not hold`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            try await server.stop()
            let whole = try await deployment.tool.run(["verify", "--level", "3"])
            #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
            try await execute(
                "ALTER EVENT TRIGGER ledger_guard_ddl DISABLE", deployment)
            for (arguments, status) in [
                ([], Int32(0)), (["--level", "3"], 1), (["--level", "2"], 0),
            ] {
                let outcome = try await deployment.tool.run(["verify"] + arguments)
                #expect(outcome.status == status, "\(arguments): \(outcome.output)")
            }
            try await execute("ALTER TABLE events DISABLE TRIGGER USER", deployment)
            let bare = try await deployment.tool.run(["verify"])
            #expect(bare.status == 1)
            #expect(bare.output.contains("DOES NOT HOLD: 1 findings"), "\(bare.output)")
            #expect(
                bare.output.contains("append-only level 0, expected 1"), "\(bare.output)")
            for wrong in ["0", "4", "x", ""] {
                let outcome = try await deployment.tool.run(["verify", "--level", wrong])
                #expect(outcome.status == 64, "\(wrong)")
            }
        }
    }

    @Test func `the sealer's directory locates the change in a log that was signed again`()
        async throws
    {
        try await Deployment.with(settings: Self.origin) { deployment in
            // The attacker has no MAC key, and a sealer with one would refuse.
            func tool(_ directory: String, keys: String? = nil) -> CommandLineTool {
                var state = ["LEDGER_SEALER_STATE": deployment.path(directory)]
                if let keys { state["LEDGER_KEYS"] = keys }
                return CommandLineTool(
                    environment: deployment.tool.environment.merging(state) { $1 })
            }
            var server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            try await server.stop()
            #expect(try await tool("sealer").run(["seal", "--once"]).status == 0)
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            let first = try #require(try await reads.latestCheckpoint(of: .default)).size
            let key = try #require(try await reads.checkpointKeys(of: .default).first).verifierKey
            server = try await deployment.serve()
            phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "b")
            try await server.stop()
            #expect(try await tool("sealer").run(["seal", "--once"]).status == 0)
            let size = try #require(try await reads.latestCheckpoint(of: .default)).size
            await reads.close()
            let kept = "CREATE TABLE kept AS SELECT * FROM checkpoints WHERE size = \(first)"
            try await execute(
                """
                \(kept);
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                ALTER TABLE merkle_nodes DISABLE TRIGGER USER;
                ALTER TABLE checkpoints DISABLE TRIGGER USER;
                ALTER TABLE checkpoint_keys DISABLE TRIGGER USER;
                UPDATE events SET event_id = '00000000-0000-7000-8000-000000000000',
                    entry = convert_to(replace(convert_from(entry, 'UTF8'), event_id::text,
                        '00000000-0000-7000-8000-000000000000'), 'UTF8')
                WHERE position = \(size - 1);
                DELETE FROM merkle_nodes; DELETE FROM checkpoints; DELETE FROM checkpoint_keys;
                DELETE FROM sealer_leases
                """, deployment)
            let again = try await tool("other", keys: "").run(["seal", "--once", "--without-macs"])
            #expect(again.status == 0, "\(again.errors)")
            // By an unknown key, and more than are listed.
            try await execute(
                """
                INSERT INTO checkpoints (tenant_id, size, origin, root, note, signed_at)
                SELECT tenant_id, n, origin, sha256(n::text::bytea), note, signed_at
                FROM checkpoints, generate_series(1, 40) n WHERE n NOT IN (size, \(first))
                """, deployment)
            for arguments in [[], ["--vkey", key]] {
                let outcome = try await tool("sealer").run(["verify"] + arguments)
                #expect(outcome.status == 1)
                #expect(outcome.output.contains("between 0 and \(size - 1)"), "\(outcome.output)")
            }
            let known = try await tool("sealer").run(["verify", "--vkey", key])
            let lines = known.output.split(separator: "\n").filter { $0.contains(", checkpoints:") }
            #expect(lines.first?.contains("between 0 and") == true, "\(lines)")
            #expect(lines.contains { $0.contains("not signed by a known key") }, "\(lines)")
            // The last one signed by the true key is the start of the range.
            try await execute("INSERT INTO checkpoints SELECT * FROM kept", deployment)
            for arguments in [[], ["--vkey", key]] {
                let outcome = try await tool("sealer").run(["verify"] + arguments)
                #expect(
                    outcome.output.contains("between \(first) and \(size - 1)"),
                    "\(outcome.output)")
            }
        }
    }
}
