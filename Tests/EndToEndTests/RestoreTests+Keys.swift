import Foundation
import LedgerTestSupport
import Testing

/// A restore that is looked at where a separate sealer runs.
extension RestoreTests {
    @Test func `with a sealer's keys alone a loss is reported, and nothing is accepted`()
        async throws
    {
        try await withSealedLog { deployment, tool in
            try await run(Self.backUp, on: deployment)
            let server = try await deployment.serve()
            var bob = Device(server.client)
            try await bob.signIn(deployment.google, as: "bob")
            try await server.stop()
            #expect(try await tool.run(["seal", "--once"]).status == 0)
            try await run(Self.restore, on: deployment)

            let (files, keys) = (FileManager.default, deployment.path("custodian"))
            let all = try #require(tool.environment["LEDGER_KEYS"])
            try files.createDirectory(
                atPath: keys, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            for name in try files.contentsOfDirectory(atPath: all) where name.hasPrefix("mac-") {
                try files.copyItem(atPath: "\(all)/\(name)", toPath: "\(keys)/\(name)")
            }
            let custodian = CommandLineTool(
                environment: tool.environment.merging(["LEDGER_KEYS": keys]) { $1 })
            let found = try await custodian.run(["restore-check"])
            #expect(found.status == 1 && found.output.contains("LOST: "), "\(found)")
            let refused = try await custodian.run(["restore-check", "--accept"])
            #expect(refused.status == 1 && refused.errors.contains(" key"), "\(refused)")
            #expect(refused.output.isEmpty, "\(refused)")
            #expect(try await custodian.run(["restore-check"]).output == found.output)
            let accepted = try await tool.run(["restore-check", "--accept", "--restored"])
            #expect(accepted.status == 0, "\(accepted)")
        }
    }
}
