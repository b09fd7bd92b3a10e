import Glibc
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// Read models that are rebuilt while servers are under load, by processes that are killed.
@Suite(.serialized) struct OnlineRebuildTests {
    private static let steps = [
        "begun", "made", "loaded", "indexed", "ready", "caught up", "compared", "swapped",
    ]

    @Test func `a rebuild that is killed at any step can be done again, and no reader notices`()
        async throws
    {
        try await Deployment.with { deployment in
            let servers = [try await deployment.serve(), try await deployment.serve()]
            let end = End()
            let lanes = (0..<4).map { lane in
                Task {
                    try await live(
                        deployment, servers[lane % 2].client, lane: lane,
                        until: end)
                }
            }
            for (number, step) in Self.steps.enumerated() {
                let projection = number % 2 == 0 ? "user_providers" : "account_audit"
                try await kill(deployment, at: step, ["rebuild", projection, "--online"])
                // Once, the next rebuild waits for that itself.
                if step != "loaded" {
                    try await deployment.asSuperuser(
                        """
                        UPDATE projection_tables SET builder_until = '-infinity'
                        WHERE builder IS NOT NULL
                        """)
                }
                let again = try await deployment.tool.run(["rebuild", projection, "--online"])
                // Killed after the swap, there is nothing left to do.
                let isDone = again.errors.contains("is still kept for a rollback")
                #expect(again.status == 0 || isDone, "\(step): \(again.errors)")
                if number % 4 == 2 {
                    try await succeed(deployment, ["rebuild", projection, "--roll-back"])
                }
                try await expectVerified(deployment)
                try await succeed(deployment, ["rebuild", projection, "--drop-previous"])
            }
            end.come()
            var calls = 0
            for lane in lanes { calls += try await lane.value }
            #expect(calls > 40)
            try await expectVerified(deployment)
            for server in servers { try await server.stop() }
        }
    }

    /// Stops the load.
    private final class End: Sendable {
        private let state = Mutex(false)

        var hasCome: Bool { state.withLock(\.self) }

        func come() {
            state.withLock { $0 = true }
        }
    }

    private func succeed(_ deployment: Deployment, _ words: [String]) async throws {
        let outcome = try await deployment.tool.run(words)
        #expect(outcome.status == 0, "\(words): \(outcome.errors)")
    }

    /// Starts a rebuild and kills it as soon as it reports a step.
    private func kill(
        _ deployment: Deployment, at step: String, _ words: [String]
    ) async throws {
        let process = try RunningProcess(
            executable: CommandLineTool.executable, arguments: words,
            environment: deployment.tool.environment)
        try await eventually("the rebuild to say '\(step)'") {
            process.errors.text.contains(": \(step)\n") || process.hasExited ? true : nil
        }
        process.send(SIGKILL)
        _ = try await process.exitStatus(within: .seconds(60))
        #expect(process.errors.text.contains(": \(step)\n"), "\(process.errors.text)")
    }

    /// Signs up, links, reads and unlinks, and checks that each effect is visible immediately.
    private func live(
        _ deployment: Deployment, _ client: WireClient, lane: Int, until end: End
    ) async throws -> Int {
        var calls = 0
        while !end.hasCome {
            var device = Device(client)
            let subject = "lane\(lane)-\(calls)"
            let signedIn = try await device.signIn(deployment.apple, as: subject)
            #expect(signedIn.status == 200)
            let linked = try await device.link(deployment.google, as: subject)
            #expect(linked.status == 200)
            let account = try await device.account()
            #expect(account.status == 200, "\(String(decoding: account.body, as: UTF8.self))")
            #expect(String(decoding: account.body, as: UTF8.self).contains("google"))
            calls += 1
        }
        return calls
    }
}
