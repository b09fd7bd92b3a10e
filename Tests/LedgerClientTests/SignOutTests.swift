import Foundation
import LedgerClient
import Testing

/// The end of sessions: after lost answers, and beside other sign-ins.
@MainActor struct SignOutTests {
    private let time = ManualTime()

    private func signedIn(
        _ transport: TestTransport, expiresIn seconds: Double = 600
    ) throws -> AuthSession {
        try app(
            transport,
            store: InMemoryTokenStore(
                .signedIn(expiresAt: time.wall.addingTimeInterval(seconds))),
            time: time)
    }

    @Test func `a sign-out everywhere whose answer was lost is done if the session is over`()
        async throws
    {
        let transport = TestTransport { request, number in
            guard request.url.lastPathComponent == "sign-out" else {
                return .answer(.refusal(401, "INVALID_REFRESH_TOKEN"))
            }
            return number == 1 ? .lose : .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
        }
        let session = try signedIn(transport)
        try await session.signOut(everywhere: true)
        #expect(session.state == .signedOut && transport.requests.count == 3)
    }

    @Test(arguments: [600.0, -1])
    func `a lost answer to the refresh ends no other session`(_ expiresIn: Double) async throws {
        let transport = TestTransport()
        transport.follow { [weak transport] request, _ in
            guard request.url.lastPathComponent == "refresh" else {
                return .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
            }
            return transport?.requests(of: "/refresh").count == 1
                ? .lose : .answer(.refusal(401, "INVALID_REFRESH_TOKEN"))
        }
        let session = try signedIn(transport, expiresIn: expiresIn)
        let error = try await refusal { () throws(LedgerError) in
            try await session.signOut(everywhere: true)
        }
        #expect(error.code == .invalidRefreshToken && session.state == .signedOut)
        #expect(transport.requests(of: "/refresh").count == 2)
    }

    @Test(arguments: [true, false])
    func `a sign-out ends its own session, renewed or not, and no other one of the person`(
        _ signsInAnew: Bool
    ) async throws {
        let store = InMemoryTokenStore()
        let transport = TestTransport { _, number in .answer(.session(number)) }
        let session = try app(transport, store: store, time: time)
        let other = try app(transport, store: store, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        transport.follow { request, _ in
            guard request.url.lastPathComponent == "sign-out" else {
                return .answer(.session(2))
            }
            if signsInAnew {
                _ = try? await other.signIn(at: "apple", with: .idToken("t"))
            } else {
                try? await other.refresh()
            }
            return .answer(.json(200, "{}"))
        }
        try await session.signOut()
        #expect(transport.requests.count == 2)
        #expect(await store.load()?.session?.accessToken == (signsInAnew ? "access-2" : nil))
    }

    @Test(arguments: [false, true])
    func `a sign-out whose answer was lost is not sent again for a sign-in that came meanwhile`(
        _ everywhere: Bool
    ) async throws {
        let (store, session, transport) = try await withOtherSignIn(afterLostAnswer: true)
        try await session.signOut(everywhere: everywhere)
        #expect(transport.requests(of: "/sign-out").count == 2)
        #expect(await store.load()?.session?.accessToken == "access-2")
    }

    @Test func `a sign-out everywhere that was refused ends no later sign-in, and says so`()
        async throws
    {
        let (store, session, transport) = try await withOtherSignIn(afterLostAnswer: false)
        let error = try await refusal { () throws(LedgerError) in
            try await session.signOut(everywhere: true)
        }
        #expect(error.code == .noSession)
        #expect(transport.requests(of: "/sign-out").count == 1)
        #expect(await store.load()?.session?.accessToken == "access-2")
    }

    /// Signs in, and again from another process as soon as the first sign-out arrives; all of them are refused.
    private func withOtherSignIn(
        afterLostAnswer isLost: Bool
    ) async throws -> (InMemoryTokenStore, AuthSession, TestTransport) {
        let store = InMemoryTokenStore()
        let transport = TestTransport { _, number in .answer(.session(number)) }
        let session = try app(transport, store: store, time: time)
        let other = try app(transport, store: store, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        transport.follow { [weak transport] request, _ in
            guard request.url.lastPathComponent == "sign-out" else { return .answer(.session(2)) }
            if transport?.requests(of: "/sign-out").count == 1 {
                _ = try? await other.signIn(at: "apple", with: .idToken("t"))
                if isLost { return .lose }
            }
            return .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
        }
        return (store, session, transport)
    }
}
