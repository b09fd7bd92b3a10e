import Foundation
import HTTP
import LedgerClient
import LedgerTestSupport
import Synchronization
import Testing

/// Programs with one file for their session: together, and killed at the worst moment.
@Suite(.timeLimit(.minutes(5))) @MainActor struct ProcessTests {
    private nonisolated static var program: String {
        URL(fileURLWithPath: CommandLineTool.executable).deletingLastPathComponent()
            .appending(path: "ledger-example").path
    }

    /// Stores a session whose access token has expired.
    private func expired(
        _ ledger: DevelopmentLedger, _ file: URL
    ) async throws -> FileTokenStore {
        let store = FileTokenStore(file)
        let app = try ledger.app(store: store)
        try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
        var state = try #require(try store.load())
        state.session?.expiresAt = .distantPast
        try store.save(state)
        return store
    }

    private func start(
        _ command: String, _ file: URL, at base: String
    ) throws -> RunningProcess {
        try RunningProcess(
            executable: Self.program,
            arguments: ["--url", base, "--store", file.path, command], environment: [:])
    }

    @Test func `programs that start together refresh once`() async throws {
        try await DevelopmentLedger.with { ledger in
            let file = URL(fileURLWithPath: ledger.deployment.path("session"))
            let store = try await expired(ledger, file)
            let programs = try (0..<4).map { _ in
                try start("token", file, at: ledger.server.client.base)
            }
            for program in programs {
                #expect(
                    try await program.exitStatus(within: .seconds(60)) == 0,
                    "\(program.errors.text)")
            }
            let token = try #require(try store.load()?.session?.accessToken)
            #expect(programs.map(\.output.text) == Array(repeating: token + "\n", count: 4))
            #expect(try await ledger.refreshCount() == 1)
        }
    }

    @Test func `a program that is killed between a refresh and its store loses nothing`()
        async throws
    {
        try await DevelopmentLedger.with { ledger in
            let file = URL(fileURLWithPath: ledger.deployment.path("session"))
            let store = try await expired(ledger, file)
            let before = try #require(try store.load()?.session)
            let (answered, continuation) = AsyncStream.makeStream(of: Void.self)
            // Has the server's answer, and never sends it.
            let proxy = try HTTPServer(
                host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
                reject: { _, _ in HTTPResponse(status: 400) },
                handler: { request in
                    _ = try? await ledger.server.client.send(
                        request.method, request.target,
                        headers: ["Content-Type": "application/json"], body: Data(request.body))
                    continuation.finish()
                    await withCheckedContinuation { Self.never.append($0) }
                    return HTTPResponse(status: 503)
                })
            let killed = try start("token", file, at: "http://127.0.0.1:\(proxy.port)")
            for await _ in answered {}
            killed.send(SIGKILL)
            _ = try await killed.exitStatus(within: .seconds(60))
            #expect(try await ledger.refreshCount() == 1)
            let left = try #require(try store.load()?.session)
            #expect(left.refreshToken == before.refreshToken && left.isRefreshing)

            let next = try start("token", file, at: ledger.server.client.base)
            #expect(try await next.exitStatus(within: .seconds(60)) == 0, "\(next.errors.text)")
            let after = try #require(try store.load()?.session)
            #expect(after.refreshToken != before.refreshToken && !after.isRefreshing)
            #expect(next.output.text == after.accessToken + "\n")
            Self.never.resume()
            await proxy.stop(grace: .seconds(1))
        }
    }

    /// The requests that are not answered before the end of a test.
    private final class Unanswered: Sendable {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

        func append(_ continuation: CheckedContinuation<Void, Never>) {
            waiting.withLock { $0.append(continuation) }
        }

        func resume() {
            let all = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for continuation in all { continuation.resume() }
        }
    }

    private nonisolated static let never = Unanswered()

    @Test func `the tutorial's steps work`() async throws {
        try await DevelopmentLedger.with { ledger in
            let file = URL(fileURLWithPath: ledger.deployment.path("session"))
            let program = try start("tutorial", file, at: ledger.server.client.base)
            #expect(try await program.exitStatus(within: .seconds(120)) == 0)
            #expect(program.errors.text == "")
            #expect(
                program.output.text == """
                    Signed out.
                    Welcome.
                    ["apple"]
                    ["apple", "google"]
                    Cannot unlink your only authentication method. Link another one first.
                    Signed out.

                    """)
        }
    }

    @Test func `the command-line example tells the five stories`() async throws {
        try await DevelopmentLedger.with { ledger in
            let file = URL(fileURLWithPath: ledger.deployment.path("session"))
            let program = try start("stories", file, at: ledger.server.client.base)
            #expect(try await program.exitStatus(within: .seconds(120)) == 0)
            #expect(program.errors.text == "")
            #expect(
                program.output.text == """
                    AC1  signed in with apple, linked google: apple, google
                    AC2  signed in with google, linked apple: google, apple
                    AC3  the identity of another account: This account is already in use
                    AC4  the only way to sign in: Cannot unlink your only authentication method. \
                    Link another one first.
                    AC5  google on another device opens the same account

                    """)
            let refused = try start("show", file, at: ledger.server.client.base)
            #expect(try await refused.exitStatus(within: .seconds(60)) == 1)
            #expect(
                refused.errors.text
                    == "Your session is over. Sign in again. [NO_SESSION, request -]\n")
        }
    }
}
