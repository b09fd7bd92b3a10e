import LedgerTestSupport
import Testing

/// The modules of the pages that need no browser: words, times, addresses, refusals, requests and pictures of an account.
@Suite(.timeLimit(.minutes(10))) struct ConsoleModuleTests {
    @Test(arguments: ["console", "lib", "other", "plans"])
    func `every event, reason and refusal has words, and moments, pictures and requests are exact`(
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
