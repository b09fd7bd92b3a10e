import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

/// The external records for `verify`.
@Suite struct VerifyTests {
    @Test func `a kept checkpoint is compared with the log that it names`() async throws {
        let settings = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]
        try await Deployment.with(settings: settings) { deployment in
            let server = try await deployment.serve()
            try await server.stop()
            let made = try await deployment.tool.run(["tenant", "create", "acme"])
            #expect(made.status == 0, "\(made.errors)")
            let state = ["LEDGER_SEALER_STATE": deployment.path("sealer")]
            let sealed = try await CommandLineTool(
                environment: deployment.tool.environment.merging(state) { $1 }
            ).run(["seal", "--once"])
            #expect(sealed.status == 0, "\(sealed.errors)")

            let acme = try #require(TenantID("acme"))
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            let note = try #require(try await reads.latestCheckpoint(of: acme)).note
            await reads.close()
            let file = deployment.path("kept")
            try note.write(toFile: file, atomically: true, encoding: .utf8)
            let foreign = deployment.path("foreign")
            try note.replacing("/acme\n", with: "/other\n")
                .write(toFile: foreign, atomically: true, encoding: .utf8)

            for (arguments, status) in [
                (["--checkpoint", file], Int32(0)),
                (["--checkpoint", file, "--tenant", "acme"], 0),
                (["--checkpoint", file, "--tenant", "default"], 64),
                (["--checkpoint", foreign], 64),
            ] {
                let outcome = try await deployment.tool.run(["verify"] + arguments)
                #expect(
                    outcome.status == status, "\(arguments): \(outcome.output)\(outcome.errors)")
                let isNamed = outcome.errors.contains("not among the logs to verify")
                #expect(isNamed == (status == 64), "\(outcome.errors)")
            }
        }
    }

    @Test func `without checkpoints a rewritten log verifies only without external records`()
        async throws
    {
        let settings = ["LEDGER_ORIGIN": "ledger.example.com/accounts"]
        try await Deployment.with(settings: settings) { deployment in
            let state = ["LEDGER_SEALER_STATE": deployment.path("sealer")]
            let knowing = CommandLineTool(
                environment: deployment.tool.environment.merging(state) { $1 })
            let server = try await deployment.serve()
            try await server.stop()
            let sealed = try await knowing.run(["seal", "--once"])
            #expect(sealed.status == 0, "\(sealed.errors)")
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            let key = try #require(try await reads.checkpointKeys(of: .default).first)
            await reads.close()
            let attempts = [
                (deployment.tool, ["verify"]), (knowing, ["verify"]),
                (deployment.tool, ["verify", "--vkey", key.verifierKey]),
            ]
            for (tool, arguments) in attempts {
                let outcome = try await tool.run(arguments)
                #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            }
            let session = Session(url: deployment.superuserURL, applicationName: "verify test")
            try await session.run { connection in
                try connection.execute(
                    """
                    ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                    ALTER TABLE merkle_nodes DISABLE TRIGGER USER;
                    ALTER TABLE checkpoints DISABLE TRIGGER USER;
                    ALTER TABLE checkpoint_keys DISABLE TRIGGER USER;
                    DELETE FROM merkle_nodes;
                    DELETE FROM checkpoints;
                    DELETE FROM checkpoint_keys;
                    DO $$ DECLARE t record; BEGIN FOR t IN
                        SELECT tgrelid::regclass AS name, tgname FROM pg_trigger
                        WHERE NOT tgisinternal AND tgenabled = 'D'
                    LOOP
                        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t.name, t.tgname);
                    END LOOP; END $$
                    """)
            }
            await session.close()
            var statuses: [Int32] = []
            var output = ""
            for (tool, arguments) in attempts {
                let outcome = try await tool.run(arguments)
                statuses.append(outcome.status)
                output += outcome.output
            }
            #expect(statuses == [0, 1, 1], "\(output)")
            #expect(output.contains("the stored hashes end at 0"), "\(output)")
            #expect(output.contains("no given key has signed"), "\(output)")
        }
    }
}
