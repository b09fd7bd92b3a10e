import Foundation
import LedgerTestSupport
import Testing

/// The modules that verify in a browser, without one: their vectors, and each byte changed.
@Suite(.timeLimit(.minutes(10))) struct ProofModuleTests {
    @Test(arguments: ["proof", "stream", "witness"])
    func `proofs, notes and entries are verified as in the ledger`(
        _ name: String
    ) async throws {
        let node = try RunningProcess(
            executable: "/usr/bin/env",
            arguments: ["node", "--no-warnings", "--test", PageTestFiles.unit(name)],
            environment: [:])
        let status = try await node.exitStatus(within: .seconds(300))
        #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
    }
}
