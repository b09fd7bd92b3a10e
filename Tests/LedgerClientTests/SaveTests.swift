import Foundation
import LedgerClient
import Synchronization
import Testing

/// Sessions that the store does not take, and what a sign-in and a refresh keep of the one before.
@MainActor struct SaveTests {
    /// The operations of a store that fail.
    enum Fault: Sendable {
        case none
        case save
        case lock
        case all
        /// The state is saved, but the store fails as if it were not.
        case late
    }

    /// A store that fails when a test says so.
    private final class FaultyStore: TokenStore {
        let inner: InMemoryTokenStore
        private let fault = Mutex(Fault.none)

        init(_ state: StoredState? = nil) {
            inner = InMemoryTokenStore(state)
        }

        func fail(_ fault: Fault) {
            self.fault.withLock { $0 = fault }
        }

        private func check(_ faults: Set<Fault>) throws(StoreError) {
            guard !faults.contains(fault.withLock(\.self)) else { throw StoreError("full") }
        }

        func load() async throws(StoreError) -> StoredState? {
            try check([.all, .late])
            return await inner.load()
        }

        func save(_ state: StoredState?) async throws(StoreError) {
            try check([.save, .all])
            await inner.save(state)
            try check([.late])
        }

        func exclusively<Value: Sendable>(
            _ work: @Sendable () async -> Value
        ) async throws(StoreError) -> Value {
            try check([.lock])
            return await inner.exclusively(work)
        }
    }

    private struct ClosedGate: AccessGate {
        func open() async -> Bool { false }
    }

    private let time = ManualTime()

    private func stored(secret: String? = nil) -> StoredState {
        var state = StoredState.signedIn(expiresAt: time.wall.addingTimeInterval(600))
        state.session?.anonymousSecret = secret
        return state
    }

    @Test func `a renewed session that cannot be saved is used, and saved before the next refresh`()
        async throws
    {
        let store = FaultyStore(stored())
        let atRefresh = Mutex<[StoredState.Session?]>([])
        let transport = TestTransport { _, number in
            let session = await store.inner.load()?.session
            atRefresh.withLock { $0.append(session) }
            store.fail(.save)
            return .answer(.session(number + 1))
        }
        let session = try app(transport, store: store, time: time)
        try await session.refresh()
        #expect(try await session.accessToken() == "access-2")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-1")
        let error = try await refusal { () throws(LedgerError) in try await session.refresh() }
        #expect(error.code == .storeFailed && transport.requests.count == 1)
        #expect(try await session.accessToken() == "access-2")

        store.fail(.none)
        try await session.refresh()
        #expect(transport.requests.last?.text("refresh_token") == "refresh-2")
        let sessions = atRefresh.withLock(\.self)
        #expect(sessions.map { $0?.refreshToken } == ["refresh-1", "refresh-2"])
        #expect(sessions.map { $0?.isRefreshing } == [true, true])
    }

    @Test func `a session that could not be saved is saved by the next call`() async throws {
        let store = FaultyStore(stored())
        let transport = TestTransport { _, _ in
            store.fail(.save)
            return .answer(.session(2))
        }
        let session = try app(transport, store: store, time: time)
        try await session.refresh()
        store.fail(.none)
        #expect(try await session.accessToken() == "access-2")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-2")
        #expect(await store.inner.load()?.session?.isRefreshing == false)
    }

    @Test func `a session that another process saved takes the place of one that was not`()
        async throws
    {
        let store = FaultyStore(stored())
        let transport = TestTransport { _, _ in
            store.fail(.save)
            return .answer(.session(2))
        }
        let session = try app(transport, store: store, time: time)
        try await session.refresh()
        store.fail(.none)
        await store.inner.save(
            .signedIn(as: "bob", token: 7, expiresAt: time.wall.addingTimeInterval(600)))
        try await session.start()
        #expect(try await session.accessToken() == "access-7")
        #expect(await store.inner.load()?.session?.accessToken == "access-7")
    }

    @Test(arguments: [Fault.save, .lock])
    func `a sign-in that could not be saved comes after a renewal of the session before it`(
        _ fault: Fault
    ) async throws {
        let store = FaultyStore(stored())
        let transport = TestTransport { request, _ in
            request.method == "GET"
                ? .answer(.account("bob"))
                : .answer(
                    request.url.lastPathComponent == "refresh"
                        ? .session(3) : .session(2, user: "bob"))
        }
        let session = try app(transport, store: store, time: time)
        store.fail(fault)
        try await session.signIn(at: "apple", with: .idToken("t"))
        store.fail(.none)
        let other = try app(transport, store: store.inner, time: time)
        try await other.refresh()
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-3")

        try await session.start()
        #expect(session.state.profile?.userID == "bob")
        #expect(try await session.accessToken() == "access-2")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-2")
    }

    @Test(arguments: [true, false])
    func `a sign-in that could not be saved gives way to a later one, and to no sign-out`(
        _ signsIn: Bool
    ) async throws {
        let store = FaultyStore(stored())
        let transport = TestTransport { request, number in
            .answer(
                request.url.lastPathComponent == "sign-out"
                    ? .json(200, "{}") : .session(number + 1, user: "bob"))
        }
        let session = try app(transport, store: store, time: time)
        store.fail(.save)
        try await session.signIn(at: "apple", with: .idToken("t"))
        store.fail(.none)
        let other = try app(transport, store: store.inner, time: time)
        if signsIn {
            try await other.signIn(at: "apple", with: .idToken("t"))
        } else {
            try await other.signOut()
        }
        #expect(try await session.accessToken() == (signsIn ? "access-3" : "access-2"))
        #expect(session.state.profile?.userID == "bob")
    }

    @Test(arguments: [Fault.save, .lock, .all], [true, false])
    func `a sign-in that cannot be saved says so, and lasts as long as the process`(
        _ fault: Fault, _ hasFormer: Bool
    ) async throws {
        let store = FaultyStore(hasFormer ? stored() : nil)
        let transport = TestTransport { request, _ in
            .answer(request.method == "GET" ? .account("bob") : .session(2, user: "bob"))
        }
        let session = try app(transport, store: store, time: time)
        store.fail(fault)
        let result = try await session.signIn(at: "apple", with: .idToken("t"))
        guard case .signedIn(let signIn) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(!signIn.isSaved && session.state.profile?.userID == "bob")
        #expect(try await session.accessToken() == "access-2")
        store.fail(.none)
        try await session.reload()
        #expect(transport.requests.last?.headers["Authorization"] == "Bearer access-2")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-2")
    }

    @Test(arguments: [Fault.save, .lock, .all], [true, false])
    func `a sign-in that cannot be saved is renewed, and is saved later`(
        _ fault: Fault, _ hasFormer: Bool
    ) async throws {
        let store = FaultyStore(hasFormer ? stored() : nil)
        let transport = TestTransport { request, _ in
            .answer(
                .session(request.url.lastPathComponent == "refresh" ? 3 : 2, user: "bob"))
        }
        let session = try app(transport, store: store, time: time)
        store.fail(fault)
        try await session.signIn(at: "apple", with: .idToken("t"))
        time.advance(.seconds(600))
        #expect(try await session.accessToken() == "access-3")
        let refreshes = transport.requests(of: "/refresh")
        #expect(refreshes.map { $0.text("refresh_token") } == ["refresh-2"])
        store.fail(.none)
        #expect(try await session.accessToken() == "access-3")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-3")
    }

    @Test(arguments: [false, true])
    func `the end of a session that cannot be saved is shown, and saved later`(
        _ isLost: Bool
    ) async throws {
        let store = FaultyStore()
        let transport = TestTransport { _, _ in .answer(.session(2)) }
        let session = try app(transport, store: store, time: time)
        store.fail(.save)
        try await session.signIn(at: "apple", with: .idToken("t"))
        if isLost {
            transport.follow { _, _ in .lose }
            _ = try await refusal { () throws(LedgerError) in try await session.refresh() }
        }
        transport.follow { _, _ in .answer(.refusal(401, "INVALID_REFRESH_TOKEN")) }
        let error = try await refusal { () throws(LedgerError) in try await session.refresh() }
        let profile = Profile(userID: "ada", linkedProviders: ["apple"])
        let ended = ExpiredSession(
            profile: profile, cause: isLost ? .refreshInterrupted : .refused)
        #expect(error.code == .invalidRefreshToken && session.state == .expired(ended))
        store.fail(.none)
        _ = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(session.state == .expired(ended))
        #expect(await store.inner.load()?.expired == ended)
    }

    @Test func `a sign-in that another process has renewed takes the place of the former token`()
        async throws
    {
        let store = FaultyStore()
        let transport = TestTransport { request, _ in
            .answer(.session(request.url.lastPathComponent == "refresh" ? 3 : 2))
        }
        let session = try app(transport, store: store, time: time)
        store.fail(.late)
        try await session.signIn(at: "apple", with: .idToken("t"))
        #expect(try await session.accessToken() == "access-2")
        try await app(transport, store: store.inner, time: time).refresh()
        store.fail(.none)
        #expect(try await session.accessToken() == "access-3")
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-3")
    }

    @Test(arguments: [Fault.save, .lock], [true, false])
    func `an account that cannot be saved is returned, and saved later`(
        _ fault: Fault, _ isUnsaved: Bool
    ) async throws {
        let store = FaultyStore(stored())
        let transport = TestTransport { request, _ in
            .answer(request.method == "GET" ? .account() : .session(2))
        }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        store.fail(fault)
        if isUnsaved { try await session.signIn(at: "apple", with: .idToken("t")) }
        let profile = try await session.reload()
        #expect(profile.identities.map(\.id) == ["i"])
        #expect(session.state == .signedIn(profile) && session.storeFailure?.code == .storeFailed)
        #expect(await store.inner.load()?.session?.profile.identities == [])
        store.fail(.none)
        #expect(try await session.accessToken() == (isUnsaved ? "access-2" : "access-1"))
        #expect(session.storeFailure == nil)
        let saved = await store.inner.load()?.session
        #expect(saved?.profile == profile && saved?.accessToken == "access-\(isUnsaved ? 2 : 1)")
    }

    @Test(arguments: [Fault.save, .lock, .all], [true, false])
    func `a change that cannot be saved is returned, since the ledger has acted`(
        _ fault: Fault, _ isRead: Bool
    ) async throws {
        let store = FaultyStore(stored())
        let transport = TestTransport { request, _ in
            if request.method == "GET", isRead { return .answer(.account()) }
            guard request.method != "GET" else { return .answer(.refusal(404, "NOT_FOUND")) }
            store.fail(fault)
            return .answer(.json(200, #"{"linked_providers":["apple"],"message":"linked"}"#))
        }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        let profile = try await session.link("apple", with: .idToken("t"))
        #expect(profile.userID == "ada" && profile.linkedProviders == ["apple"])
        #expect(session.storeFailure?.code == .storeFailed)
        #expect(session.state.profile?.userID == "ada")
        store.fail(.none)
        transport.follow { _, _ in .answer(.account()) }
        try await session.reload()
        #expect(session.storeFailure == nil)
        #expect(await store.inner.load()?.session?.profile.identities.map(\.id) == ["i"])
    }

    @Test func `an unsaved account gives way to a session that another process saved`() async throws
    {
        let store = FaultyStore(stored())
        let transport = TestTransport { _, _ in .answer(.account()) }
        let session = try app(transport, store: store, time: time)
        store.fail(.save)
        try await session.reload()
        store.fail(.none)
        await store.inner.save(
            .signedIn(token: 7, expiresAt: time.wall.addingTimeInterval(600)))
        #expect(try await session.accessToken() == "access-7")
        #expect(session.storeFailure == nil)
        #expect(await store.inner.load()?.session?.refreshToken == "refresh-7")
    }

    @Test func `a sign-in that is saved says so`() async throws {
        let session = try app(TestTransport { _, _ in .answer(.session(1)) }, time: time)
        let result = try await session.signIn(at: "apple", with: .idToken("t"))
        let profile = Profile(userID: "ada", linkedProviders: ["apple"])
        #expect(result == .signedIn(SignIn(profile: profile, isNewUser: false, isSaved: true)))
    }

    @Test func `a sign-out forgets a session that could not be saved`() async throws {
        let store = FaultyStore()
        let session = try app(
            TestTransport { _, _ in .answer(.session(1)) }, store: store, time: time)
        store.fail(.save)
        try await session.signIn(at: "apple", with: .idToken("t"))
        let error = try await refusal { () throws(LedgerError) in try await session.signOut() }
        #expect(error.code == .storeFailed && session.state == .signedOut)
        store.fail(.none)
        try await session.start()
        #expect(session.state == .signedOut)
    }

    @Test func `the secret of an anonymous account is kept, held or presented`() async throws {
        let transport = TestTransport { _, _ in .answer(.session(2)) }
        let held = try app(
            transport, store: InMemoryTokenStore(stored(secret: "held")), time: time)
        try await held.signIn(at: "anonymous", with: .idToken("t"))
        #expect(try await held.anonymousSecret() == "held")
        try await held.signIn(at: "anonymous", with: .anonymous(secret: "presented"))
        #expect(try await held.anonymousSecret() == "presented")
        try await held.changePassword(to: "p")
        #expect(try await held.anonymousSecret() == "presented")

        transport.follow { _, _ in .answer(.session(3, user: "bob")) }
        try await held.signIn(at: "apple", with: .idToken("t"))
        #expect(try await held.anonymousSecret() == nil, "that of another account")
        let fresh = try app(transport, time: time)
        try await fresh.signIn(at: "anonymous", with: .anonymous(secret: "presented"))
        #expect(try await fresh.anonymousSecret() == "presented")
    }

    @Test func `the gate guards the secret of an anonymous account`() async throws {
        let guarded = try app(
            TestTransport(), store: InMemoryTokenStore(stored(secret: "s")), time: time,
            gate: ClosedGate())
        let error = try await refusal { () throws(LedgerError) in
            try await guarded.anonymousSecret()
        }
        #expect(error.code == .gateClosed)
        let other = try app(
            TestTransport(), store: InMemoryTokenStore(stored()), time: time, gate: ClosedGate())
        #expect(try await other.anonymousSecret() == nil, "nothing to guard")
    }

    @Test(arguments: [(429, false, false), (503, false, true), (429, true, true)])
    func `a refresh that the ledger did not begin leaves no mark`(
        _ status: Int, _ losesFirst: Bool, _ isMarked: Bool
    ) async throws {
        let store = InMemoryTokenStore(stored())
        let transport = TestTransport { _, number in
            losesFirst && number == 1 ? .lose : .answer(TransportResponse(status: status))
        }
        let session = try app(transport, store: store, time: time)
        let error = try await refusal { () throws(LedgerError) in try await session.refresh() }
        #expect(error.status == status)
        #expect(await store.load()?.session?.isRefreshing == isMarked)
    }
}
