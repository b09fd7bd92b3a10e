import Foundation
import LedgerClient
import Observation
import Synchronization
import Testing

/// The states of a session, the gate, and what a sign-out leaves.
@MainActor struct StateTests {
    private final class CountingGate: AccessGate {
        private let count = Atomic<Int>(0)
        private let isOpen: Bool

        init(isOpen: Bool) {
            self.isOpen = isOpen
        }

        var asked: Int { count.load(ordering: .relaxed) }

        func open() async -> Bool {
            count.add(1, ordering: .relaxed)
            // Other callers come before the answer.
            await Task.yield()
            return isOpen
        }
    }

    private let time = ManualTime()

    private func stored(_ number: Int = 1, expiresIn seconds: TimeInterval = 600) -> StoredState {
        .signedIn(token: number, expiresAt: time.wall.addingTimeInterval(seconds))
    }

    @Test func `a screen that shows the state is told of a change`() async throws {
        let session = try app(TestTransport(), store: InMemoryTokenStore(stored()), time: time)
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        withObservationTracking {
            _ = session.state
        } onChange: {
            continuation.finish()
        }
        try await session.start()
        for await _ in changes {}
        #expect(session.state.profile?.userID == "ada")
    }

    @Test func `an app that starts offline shows the last known profile`() async throws {
        var state = stored(expiresIn: -1)
        state.session?.profile.identities = [
            Identity(id: "i", provider: "apple", linkedAt: time.wall)
        ]
        let session = try app(
            TestTransport { _, _ in .unsent }, store: InMemoryTokenStore(state), time: time)
        #expect(session.state == .signedOut)
        try await session.start()
        #expect(session.state.profile?.identities.map(\.id) == ["i"])
        let error = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(error.code == .noAnswer)
        #expect(session.state.profile?.userID == "ada", "still signed in")
    }

    @Test func `a refused refresh ends the session, with its cause and the last profile`()
        async throws
    {
        let store = InMemoryTokenStore(stored(expiresIn: -1))
        let transport = TestTransport { _, _ in .answer(.refusal(401, "INVALID_REFRESH_TOKEN")) }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        let error = try await refusal { () throws(LedgerError) in try await session.accessToken() }
        #expect(error.code == .invalidRefreshToken)
        let ended = ExpiredSession(
            profile: Profile(userID: "ada", linkedProviders: ["apple"]), cause: .refused)
        #expect(session.state == .expired(ended))
        #expect(await store.load()?.session == nil)

        let next = try app(TestTransport(), store: store, time: time)
        try await next.start()
        #expect(next.state == .expired(ended), "also after a restart")
        let none = try await refusal { () throws(LedgerError) in try await next.accessToken() }
        #expect(none.code == .noSession)
        try await next.signOut()
        #expect(next.state == .signedOut)
        #expect(await store.load() == nil)
    }

    @Test func `a second factor is a state, and its token is in no text`() async throws {
        let details = #"""
            {"sign_in_token":"secret-token","expires_in":300,"factors":[
             {"factor_id":"f1","type":"totp"},{"factor_id":"f2","type":"phone","hint":"6789"}]}
            """#
        let transport = TestTransport { request, _ in
            switch request.url.lastPathComponent {
            case "apple":
                .answer(.refusal(403, "SECOND_FACTOR_REQUIRED", details: details))
            case "code": .answer(.json(200, #"{"challenge_id":"c","expires_in":600}"#))
            default:
                request.text("code") == "123456"
                    ? .answer(.session(2, device: "device"))
                    : .answer(.refusal(401, "INVALID_CODE"))
            }
        }
        let store = InMemoryTokenStore()
        let session = try app(transport, store: store, time: time)
        let result = try await session.signIn(at: "apple", with: .idToken("t"))
        guard case .needsSecondFactor(let challenge) = session.state else {
            Issue.record("\(session.state)")
            return
        }
        #expect(result == .needsSecondFactor(challenge))
        #expect(challenge.factors.map(\.kind) == [.authenticatorApp, .phone])
        #expect(challenge.factors.last?.hint == "6789" && challenge.expiresIn == 300)
        var text = "\(challenge) \(session.state)"
        dump(challenge, to: &text)
        dump(session.state, to: &text)
        #expect(!text.contains("secret-token"))

        let phone = try #require(challenge.factors.last)
        let wrong = try await refusal { () throws(LedgerError) in
            try await session.completeSecondFactor(phone, code: "000000")
        }
        #expect(wrong.code == .invalidCode && session.state == .needsSecondFactor(challenge))
        let sent = try await session.sendSecondFactorCode(to: phone)
        try await session.completeSecondFactor(phone, code: "123456", sent: sent)
        #expect(session.state.profile?.userID == "ada")
        #expect(await store.load()?.deviceToken == "device")
        let last = try #require(transport.requests.last)
        #expect(last.text("sign_in_token") == "secret-token" && last.text("factor_id") == "f2")
        #expect(last.text("challenge_id") == "c")
    }

    @Test func `the proof of a refused link is in its error, and in no text`() async throws {
        let details = #"{"proof_token":"secret-token"}"#
        let session = try app(
            TestTransport { _, _ in
                .answer(.refusal(409, "PROVIDER_CONFLICT", details: details))
            }, store: InMemoryTokenStore(stored()), time: time)
        let error = try await refusal { () throws(LedgerError) in
            try await session.link("google", with: .flow(code: "code", verifier: "verifier"))
        }
        guard case .flow(code: "secret-token", verifier: "verifier")? = error.proof else {
            Issue.record("\(error)")
            return
        }
        var text = "\(error)"
        dump(error, to: &text)
        #expect(error.code == .providerConflict && !text.contains("secret-token"))
        let other = try await refusal { () throws(LedgerError) in
            try await session.link("google", with: .idToken("t"))
        }
        #expect(other.proof == nil)
    }

    @Test func `no dump of a session has its tokens`() async throws {
        let transport = TestTransport { _, number in
            .answer(.session(number, device: "device-secret", secret: "anonymous-secret"))
        }
        let session = try app(transport, time: time)
        try await session.signIn(at: "anonymous", with: .anonymous())
        try await session.refresh()
        var text = "\(String(reflecting: session))"
        dump(session, to: &text)
        #expect(text.contains("SessionKeeper"))
        for secret in ["access-", "refresh-", "device-secret", "anonymous-secret"] {
            #expect(!text.contains(secret))
        }
    }

    @Test func `an attestation is sent to open an anonymous account, and no more with its secret`()
        async throws
    {
        let transport = TestTransport { _, number in .answer(.session(number)) }
        let session = try app(transport, time: time)
        try await session.signIn(at: "anonymous", with: .anonymous(attestation: "a"))
        try await session.signIn(
            at: "anonymous", with: .anonymous(secret: "s", attestation: "a"))
        #expect(transport.requests.map { $0.text("attestation") } == ["a", nil])
        #expect(transport.requests.map { $0.text("anonymous_secret") } == [nil, "s"])
    }

    @Test func `a second step that is given up leaves the former state`() async throws {
        let details = #"{"sign_in_token":"t","expires_in":300,"factors":[]}"#
        let session = try app(
            TestTransport { _, _ in
                .answer(.refusal(403, "SECOND_FACTOR_REQUIRED", details: details))
            }, store: InMemoryTokenStore(stored()), time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        await session.cancelSecondFactor()
        #expect(session.state.profile?.userID == "ada")
        let factor = SecondFactor(id: "f", kind: .authenticatorApp)
        let error = try await refusal { () throws(LedgerError) in
            try await session.completeSecondFactor(factor, code: "1")
        }
        #expect(error.code == .noSession)
    }

    @Test func `the gate is asked once for all callers, and again after a lock`() async throws {
        let gate = CountingGate(isOpen: true)
        let transport = TestTransport { _, _ in .answer(.account()) }
        let session = try app(
            transport, store: InMemoryTokenStore(stored()), time: time, gate: gate)
        try await session.start()
        #expect(session.state.profile != nil && gate.asked == 0, "the profile needs no gate")
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { _ = try await session.accessToken() } }
            try await group.waitForAll()
        }
        #expect(gate.asked == 1)
        try await session.reload()
        #expect(gate.asked == 1)
        await session.lock()
        try await session.reload()
        #expect(gate.asked == 2)
    }

    @Test func `a gate that stays closed sends nothing, but lets a person sign out`() async throws {
        let gate = CountingGate(isOpen: false)
        let transport = TestTransport { _, _ in .answer(.json(200, "{}")) }
        let store = InMemoryTokenStore(stored())
        let session = try app(transport, store: store, time: time, gate: gate)
        try await session.start()
        let error = try await refusal { () throws(LedgerError) in try await session.accessToken() }
        #expect(error.code == .gateClosed)
        #expect(transport.requests.isEmpty && session.state.profile != nil)
        try await session.signOut()
        #expect(transport.requests.map { $0.url.lastPathComponent } == ["sign-out"])
        #expect(await store.load() == nil)
    }

    @Test func `a link counts, also if the account cannot be read then`() async throws {
        let store = InMemoryTokenStore(stored())
        let transport = TestTransport { request, _ in
            request.method == "POST"
                ? .answer(.json(200, #"{"linked_providers":["apple","google"],"message":""}"#))
                : .unsent
        }
        let session = try app(transport, store: store, time: time)
        let profile = try await session.link("google", with: .idToken("t"))
        #expect(profile.linkedProviders == ["apple", "google"])
        #expect(session.state == .signedIn(profile))
        #expect(await store.load()?.session?.profile == profile)
    }

    @Test func `a sign-out clears everything, also when the ledger cannot be reached`()
        async throws
    {
        var state = stored()
        state.session?.anonymousSecret = "s"
        state.deviceToken = "device"
        let store = InMemoryTokenStore(state)
        let transport = TestTransport { _, _ in .unsent }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        let error = try await refusal { () throws(LedgerError) in try await session.signOut() }
        #expect(error.code == .noAnswer && session.state == .signedOut)
        let left = try #require(await store.load())
        #expect(left.session == nil && left.expired == nil)
        #expect(left.deviceToken == "device", "which opens nothing")
        try await session.signOut(forgetsDevice: true)
        #expect(await store.load() == nil)
    }

    @Test func `a session that is over at the ledger is signed out without an error`() async throws
    {
        let transport = TestTransport { request, _ in
            request.url.lastPathComponent == "refresh"
                ? .answer(.refusal(401, "INVALID_REFRESH_TOKEN"))
                : .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
        }
        let session = try app(transport, store: InMemoryTokenStore(stored()), time: time)
        try await session.signOut()
        #expect(session.state == .signedOut)
        let other = try app(transport, store: InMemoryTokenStore(stored()), time: time)
        let error = try await refusal { () throws(LedgerError) in
            try await other.signOut(everywhere: true)
        }
        #expect(error.code == .invalidRefreshToken, "the other sessions may go on")
        #expect(other.state == .signedOut)
    }

    @Test func `the device's token goes with codes and passwords alone`() async throws {
        var state = StoredState()
        state.deviceToken = "device"
        let store = InMemoryTokenStore(state)
        let transport = TestTransport { request, _ in
            request.url.path().contains("codes")
                ? .answer(.json(200, #"{"challenge_id":"c","expires_in":600}"#))
                : .answer(.session(1, device: "newer"))
        }
        let session = try app(transport, store: store, time: time)
        let sent = try await session.sendCode(to: "a@example.com", by: "email")
        try await session.signIn(at: "email", with: .code(sent, "1"))
        try await session.signIn(at: "apple", with: .idToken("t"))
        try await session.signIn(at: "password", with: .password(email: "a", password: "p"))
        #expect(
            transport.requests.map { $0.text("device_token") } == [
                "device", "device", nil, "newer",
            ])
    }

    /// A store whose lock is had only after another process has renewed the session.
    private struct OvertakenStore: TokenStore {
        let inner: InMemoryTokenStore
        let newer: StoredState

        func load() async -> StoredState? { await inner.load() }
        func save(_ state: StoredState?) async { await inner.save(state) }

        func exclusively<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value {
            await inner.save(newer)
            return await work()
        }
    }

    @Test func `a session that another process has renewed meanwhile is used as it is`()
        async throws
    {
        let store = OvertakenStore(
            inner: InMemoryTokenStore(stored(expiresIn: -1)), newer: stored(2))
        let transport = TestTransport { _, _ in .answer(.account()) }
        try await app(transport, store: store, time: time).reload()
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer access-2"])
    }

    @Test func `a sign-out during a refresh comes after it, and leaves nothing`() async throws {
        let store = InMemoryTokenStore(stored(expiresIn: -1))
        let transport = TestTransport()
        let session = try app(transport, store: store, time: time)
        let other = try app(transport, store: store, time: time)
        let signOut = Mutex<Task<Void, any Error>?>(nil)
        transport.follow { request, _ in
            guard request.url.lastPathComponent == "refresh" else {
                return .answer(.json(200, "{}"))
            }
            signOut.withLock { $0 = Task { try await other.signOut() } }
            return .answer(.session(2))
        }
        #expect(try await session.accessToken() == "access-2")
        try await signOut.withLock(\.self)?.value
        #expect(await store.load() == nil && other.state == .signedOut)
        #expect(transport.requests(of: "/sign-out").count == 1)
        #expect(
            transport.requests(of: "/sign-out").first?.headers["Authorization"]
                == "Bearer access-2")
        try await session.start()
        #expect(session.state == .signedOut)
    }
}
