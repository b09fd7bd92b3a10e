import Foundation
import LedgerTestSupport
import Testing

/// The page of linked accounts in Chromium, by programs of Node, against a server in development mode.
@Suite(.timeLimit(.minutes(20))) struct AccountPageTests {
    @Test func `people sign in, link, unlink, combine and change what they sign in with`()
        async throws
    {
        try await run(["link", "combine", "methods", "factors", "languages"])
    }

    @Test func `accounts are combined by a person who signs in to both`() async throws {
        try await run(["other"])
    }

    @Test func `phone numbers are changed and confirmed again`() async throws {
        try await run(["numbers"])
    }

    @Test func `the page is safe from other sites, strangers and scripts`() async throws {
        try await run(["security"])
    }

    @Test func `a change after an old sign-in asks for another one, and goes on`() async throws {
        let seconds = "6"
        try await run(
            ["again"], settings: ["LEDGER_REAUTHENTICATION_SECONDS": seconds],
            environment: ["REAUTHENTICATION_SECONDS": seconds])
    }

    @Test func `a person whose password strangers have tried signs in with a code beside it`()
        async throws
    {
        try await run(["tried"], settings: ["LEDGER_TRUSTED_PROXIES": "127.0.0.1"])
    }

    @Test func `a person signs up, and confirms the address later`() async throws {
        try await run(["later"], confirmsLater: true)
    }

    private func run(
        _ stories: [String], settings: [String: String] = [:], environment: [String: String] = [:],
        confirmsLater: Bool = false
    ) async throws {
        var development = ["LEDGER_MODE": "development"]
        if !confirmsLater { development["LEDGER_PROVIDERS"] = "" }
        try await Deployment.with(settings: development.merging(settings) { $1 }) { deployment in
            if confirmsLater { try deployment.confirmLater() }
            #expect(try await deployment.tool.run(["tenant", "create", "acme"]).status == 0)
            let server = try await deployment.serve()
            let own = [
                "LEDGER_URL": server.client.base, "AXE_SOURCE": try PageTestFiles.axe(),
                "LEDGER_SUPPORT_KEY": try await deployment.apiKey("support"),
            ]
            let node = try RunningProcess(
                executable: "/usr/bin/env",
                arguments: ["node", "--test"] + stories.map(PageTestFiles.story),
                environment: own.merging(environment) { $1 })
            let status = try await node.exitStatus(within: .seconds(900))
            #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
            #expect(!server.log.contains("\"status\":5"))
            for secret in ["@example.com", "__Host-", "flow_code"] {
                #expect(!server.log.contains(secret), "\(secret)")
            }
            #expect(try await deployment.tool.run(["verify"]).status == 0)
        }
    }
}
