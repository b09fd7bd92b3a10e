import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing
import TransparencyLog

/// Checkpoint keys that change while a server seals.
@Suite struct CheckpointKeyTests {
    @Test func `two keys sign until the former one is retired, which still verifies`()
        async throws
    {
        let origin = "ledger.example.com/accounts"
        try await Deployment.with(settings: ["LEDGER_ORIGIN": origin]) { deployment in
            let state = ["LEDGER_SEALER_STATE": deployment.path("sealer")]
            let tool = CommandLineTool(
                environment: deployment.tool.environment.merging(state) { $1 })
            let server = try await deployment.serve(settings: state)
            let reads = ProofReads(url: deployment.superuserURL) { _ in }
            let first = try await signers(of: deployment, server, reads)
            #expect(first.count == 1)

            let rotated = try await tool.run(["keys", "rotate", "checkpoint"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let again = try await tool.run(["keys", "rotate", "checkpoint"])
            #expect(again.status == 1 && again.errors.contains("--retire"), "\(again.errors)")
            let both = try await signers(of: deployment, server, reads)
            #expect(both.count == 2 && both.isSuperset(of: first))

            let retired = try await tool.run(["keys", "rotate", "checkpoint", "--retire"])
            #expect(retired.status == 0, "\(retired.errors)")
            let second = try await signers(of: deployment, server, reads)
            #expect(second == both.subtracting(first))
            let nothing = try await tool.run(["keys", "rotate", "checkpoint", "--retire"])
            #expect(nothing.status == 1, "\(nothing.output)")

            let published = try await reads.checkpointKeys(of: .default).map(\.verifierKey)
            #expect(published.count == 2, "all keys stay known")
            let list = try await tool.run(["keys", "list"])
            #expect(list.output.contains("\tsigns, tenant default\n"), "\(list.errors)")
            #expect(list.output.contains("\tformer, tenant default\n"))
            for (keys, status) in [(published, Int32(0)), ([published[0]], 1)] {
                let verified = try await tool.run(
                    ["verify", "--vkey", keys.joined(separator: ",")])
                #expect(verified.status == status, "\(verified.output)")
            }
            let replay = try await tool.run(["replay", "--from", "0", "--format", "json"])
            #expect(replay.output.contains("\"kind\":\"checkpoint\""))
            #expect(!server.log.contains("sealing refused"), "\(server.log)")
            try await server.stop()
            try await expectVerified(deployment)
            await reads.close()
        }
    }

    /// The ids of the keys of the first checkpoint that covers another sign-in.
    private func signers(
        of deployment: Deployment, _ server: ServerProcess, _ reads: ProofReads
    ) async throws -> Set<UInt32> {
        let before = try await reads.latestCheckpoint(of: .default)?.size ?? 0
        // A checkpoint in progress may still be signed by the former key.
        for _ in 0..<2 {
            let size = try await reads.latestCheckpoint(of: .default)?.size ?? before
            var device = Device(server.client)
            try await device.signIn(deployment.google, as: UUID().uuidString)
            try await eventually("the sign-in to be signed") {
                try await reads.latestCheckpoint(of: .default)?.size ?? 0 > size ? true : nil
            }
        }
        let last = try #require(try await reads.latestCheckpoint(of: .default))
        return Set(try SignedNote(parsing: last.note).signatures.map(\.keyID))
    }
}
