import LedgerTestSupport
import Testing

/// The modules of the console that need no browser: words, times, addresses, and the pictures of an account.
@Suite(.timeLimit(.minutes(10))) struct ConsoleModuleTests {
    @Test func `every event, reason and refusal has words, and moments and pictures are exact`()
        async throws
    {
        let node = try RunningProcess(
            executable: "/usr/bin/env",
            arguments: ["node", "--no-warnings", "--test", PageTestFiles.unit("console")],
            environment: [:])
        let status = try await node.exitStatus(within: .seconds(300))
        #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
    }
}
