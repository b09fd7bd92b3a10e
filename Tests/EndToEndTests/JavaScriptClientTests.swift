import Foundation
import LedgerTestSupport
import Testing

/// The tests of the JavaScript client, which are programs of Node, against a server in development mode.
@Suite struct JavaScriptClientTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("clients/javascript/tests")

    @Test func `the client in Node`() async throws {
        try await run(["story", "refresh", "faults", "store", "documentation"])
    }

    @Test func `the client in Chromium, on a page of another origin`() async throws {
        try await run(["browser"])
    }

    @Test func `the client in Node, at a tenant that confirms addresses later`() async throws {
        try await run(["later"], confirmsLater: true)
    }

    private func run(_ names: [String], confirmsLater: Bool = false) async throws {
        var settings = [
            "LEDGER_MODE": "development", "LEDGER_CORS_ORIGINS": "http://app.example",
        ]
        if !confirmsLater { settings["LEDGER_PROVIDERS"] = "" }
        try await Deployment.with(settings: settings) { deployment in
            if confirmsLater { try deployment.confirmLater() }
            let server = try await deployment.serve()
            let keys = [
                try await deployment.apiKey("support"), try await deployment.apiKey("support"),
            ]
            let files = names.map { Self.tests.appendingPathComponent("\($0).test.js").path }
            let node = try RunningProcess(
                executable: "/usr/bin/env", arguments: ["node", "--test"] + files,
                environment: [
                    "LEDGER_URL": server.client.base, "LEDGER_SUPPORT_KEY": keys[0],
                    "LEDGER_OTHER_SUPPORT_KEY": keys[1],
                ])
            let status = try await node.exitStatus(within: .seconds(120))
            #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
            #expect(!server.log.contains("\"status\":5"))
        }
    }
}
