import Foundation
import LedgerTestSupport
import Postgres
import Testing

/// A server beside a frozen process.
@Suite struct FrozenProcessTests {
    private static let hold = Statement("hold", "SELECT 1 FROM ledger_head FOR UPDATE")

    @Test func `a server ends the connection of a process that froze in the middle of a batch`()
        async throws
    {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            let url = try #require(deployment.tool.environment["DATABASE_URL"])
            let frozen = Session(url: url, applicationName: "account-ledger sequencer")
            // Without its limits, so that only a server can end it.
            try await frozen.step { connection in
                _ = try connection.query(.begin)
                _ = try connection.query(Self.hold)
            }
            let thaw = DispatchSemaphore(value: 0)
            defer { thaw.signal() }
            let batch = Task {
                try await frozen.step { connection in
                    _ = try connection.pipeline(parts: [
                        { [Call(Self.hold)] },
                        {
                            _ = thaw.wait(timeout: .now() + 120)
                            return [Call(.commit)]
                        },
                    ])
                }
            }
            var isServed = false
            for _ in 0..<3 where !isServed {
                let answer = try await server.client.call(
                    "POST", "/v1/auth/sign-in/apple",
                    ["id_token": deployment.apple.token(subject: "a")])
                isServed = answer.status == 200
            }
            #expect(isServed, "three commands waited for a process that stood still")
            thaw.signal()
            await #expect(throws: PostgresError.self) { try await batch.value }
            try await eventually("the log to tell of it") {
                server.log.contains("frozen process") ? true : nil
            }
        }
    }
}
