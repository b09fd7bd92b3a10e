import Foundation
import LedgerTestSupport
import Testing

/// The console in Chromium, by programs of Node, against a server in development mode.
@Suite(.timeLimit(.minutes(20))) struct ConsolePageTests {
    @Test func `staff sign in by their identity provider, and their sessions are safe`()
        async throws
    {
        try await run(["staff"])
    }

    @Test func `conflicts, merges, unlinks, holds and erasures are repaired step by step`()
        async throws
    {
        try await run(["console-repairs"])
    }

    @Test func `an erasure that needs two administrators is asked for and confirmed`() async throws
    {
        try await run(["console-two"], settings: ["LEDGER_ERASE_NEEDS_TWO": "on"])
    }

    @Test func `a second person does at once what support planned`() async throws {
        try await run(["console-plans"], supportNeedsTwo: true)
    }

    @Test func `the overview has figures, tables and states`() async throws {
        try await run(["console-overview"])
    }

    @Test func `staff search, and read accounts, their past and their pictures`() async throws {
        try await run(["console-accounts"])
    }

    @Test func `events are verified in the browser, which notices each change on the wire`()
        async throws
    {
        try await run(["console-proofs"])
    }

    @Test func `the page of a bundle verifies it from the disk, and refuses a tampered one`()
        async throws
    {
        try await run(["verify-page"])
    }

    /// Runs stories; a tenant whose rules have two persons of support signs in by codes and passwords alone.
    private func run(
        _ stories: [String], settings: [String: String] = [:], supportNeedsTwo: Bool = false
    ) async throws {
        var development = ["LEDGER_MODE": "development"]
        if !supportNeedsTwo { development["LEDGER_PROVIDERS"] = "" }
        try await Deployment.with(settings: development.merging(settings) { $1 }) { deployment in
            if supportNeedsTwo {
                try deployment.configure(
                    providers: Deployment.addressProviders,
                    members: #""several_per_provider":true,"support_needs_two":true,"#)
            }
            #expect(try await deployment.tool.run(["tenant", "create", "acme"]).status == 0)
            let server = try await deployment.serve(
                settings: ["LEDGER_SEALER_STATE": deployment.path("sealer")])
            let node = try RunningProcess(
                executable: "/usr/bin/env",
                arguments: ["node", "--test"] + stories.map(PageTestFiles.story),
                environment: [
                    "LEDGER_URL": server.client.base, "AXE_SOURCE": try PageTestFiles.axe(),
                    "LEDGER_SUPPORT_KEY": try await deployment.apiKey("support"),
                    "LEDGER_ADMIN_KEY": try await deployment.apiKey("admin"),
                ])
            let status = try await node.exitStatus(within: .seconds(900))
            #expect(status == 0, "\(node.output.text.suffix(8_000))\(node.errors.text)")
            #expect(!server.log.contains("\"status\":5"))
            for secret in ["@example.com", "__Host-", "Sam Ample", "code="] {
                #expect(!server.log.contains(secret), "\(secret)")
            }
            #expect(try await deployment.tool.run(["verify"]).status == 0)
        }
    }
}
