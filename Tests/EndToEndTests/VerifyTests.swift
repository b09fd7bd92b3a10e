import Foundation
import Ledger
import LedgerPostgres
import LedgerTestSupport
import Testing

/// What `verify` is given besides the database.
@Suite struct VerifyTests {
    @Test func `a checkpoint that was kept is held against the log that it names`() async throws {
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
                let isNamed = outcome.errors.contains("none of those to verify")
                #expect(isNamed == (status == 64), "\(outcome.errors)")
            }
        }
    }
}
