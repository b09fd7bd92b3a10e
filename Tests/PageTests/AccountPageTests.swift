import Foundation
import LedgerTestSupport
import Testing

/// The page of linked accounts in Chromium, by programs of Node, against a server in development mode.
@Suite(.timeLimit(.minutes(10))) struct AccountPageTests {
    @Test(arguments: ["link"]) func `a person uses the page`(story: String) async throws {
        try await run(story)
    }

    private func run(_ story: String, settings: [String: String] = [:]) async throws {
        let development = ["LEDGER_MODE": "development", "LEDGER_PROVIDERS": ""]
        try await Deployment.with(settings: development.merging(settings) { $1 }) { deployment in
            let server = try await deployment.serve()
            let node = try RunningProcess(
                executable: "/usr/bin/env", arguments: ["node", "--test", PageTestFiles.story(story)],
                environment: [
                    "LEDGER_URL": server.client.base, "AXE_SOURCE": try PageTestFiles.axe(),
                ])
            let status = try await node.exitStatus(within: .seconds(300))
            #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
            #expect(!server.log.contains("\"status\":5"))
        }
    }
}
