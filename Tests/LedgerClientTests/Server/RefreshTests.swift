import Foundation
import LedgerClient
import LedgerTestSupport
import Synchronization
import Testing

/// Renewal at a real server: by many tasks, after lost answers, a restart and a theft.
@Suite(.timeLimit(.minutes(5))) @MainActor struct RefreshTests {
    private nonisolated static let lifetime = Duration.seconds(600)

    /// Runs work in many tasks at a time, and returns its different results.
    private nonisolated func results(
        _ count: Int, _ work: @escaping @Sendable (Int) async throws -> String
    ) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<count { group.addTask { try await work(number) } }
            var found: Set<String> = []
            for try await result in group { found.insert(result) }
            return found
        }
    }

    @Test func `50 tasks with an expired token refresh once`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let time = ManualTime()
            let app = try ledger.app(transport, time: time)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let former = try await app.accessToken()
            for round in 1...3 {
                time.advance(Self.lifetime)
                let tokens = try await results(50) { number in
                    if number % 2 == 0 { try await app.reload() }
                    return try await app.accessToken()
                }
                #expect(tokens.count == 1 && !tokens.contains(former))
                #expect(transport.requests(of: "/refresh").count == round)
            }
        }
    }

    @Test func `50 tasks whose token the ledger refuses refresh once`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let store = InMemoryTokenStore()
            let app = try ledger.app(transport, store: store)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            var state = try #require(await store.load())
            state.session?.accessToken += "x"
            await store.save(state)
            let users = try await results(50) { _ in try await app.reload().userID }
            #expect(users.count == 1)
            #expect(transport.requests(of: "/refresh").count == 1)
        }
    }

    @Test func `two apps with one file refresh once`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let url = URL(fileURLWithPath: ledger.deployment.path("session"))
            let time = ManualTime()
            let apps = [
                try ledger.app(transport, store: FileTokenStore(url), time: time),
                try ledger.app(transport, store: FileTokenStore(url), time: time),
            ]
            try await apps[0].signIn(at: "apple", with: ledger.proof("apple", "ada"))
            time.advance(Self.lifetime)
            let tokens = try await results(20) { number in
                try await apps[number % 2].accessToken()
            }
            #expect(tokens.count == 1)
            #expect(transport.requests(of: "/refresh").count == 1)
        }
    }

    @Test(arguments: [-3600.0, 3600])
    func `a device whose clock is wrong by an hour stays signed in`(
        _ wrong: TimeInterval
    ) async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let store = InMemoryTokenStore()
            let time = ManualTime(wall: Date().addingTimeInterval(wrong))
            let app = try ledger.app(transport, store: store, time: time)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            try await app.reload()
            // The app is started again: only the store tells when the token expires.
            let later = try ledger.app(transport, store: store, time: time)
            try await later.start()
            try await later.reload()
            #expect(transport.requests(of: "/refresh").isEmpty)
            time.advance(Self.lifetime)
            try await later.reload()
            #expect(transport.requests(of: "/refresh").count == 1)
        }
    }

    @Test func `a refresh whose answers are lost is repeated and yields the same successor`()
        async throws
    {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let store = InMemoryTokenStore()
            let app = try ledger.app(transport, store: store)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            transport.follow { request, number in
                request.url.lastPathComponent == "refresh" && number < 4 ? .lose : .pass
            }
            try await app.refresh()
            #expect(transport.requests(of: "/refresh").count == 4)
            try await app.reload()

            // Even if every answer of a call is lost, the next call gets the same successor.
            transport.follow { _, _ in .lose }
            let error = try await refusal { () throws(LedgerError) in try await app.refresh() }
            #expect(error.code == .noAnswer && app.state.profile != nil)
            #expect(await store.load()?.session?.isRefreshing == true)
            transport.follow { _, _ in .pass }
            try await app.reload()
            #expect(
                transport.requests.map(\.url.lastPathComponent) == ["refresh", "account"],
                "the lost refresh is finished first")
            #expect(await store.load()?.session?.isRefreshing == false)
            try await app.refresh()
        }
    }

    @Test func `a thief who used the refresh token loses it with the person, who is told`()
        async throws
    {
        try await DevelopmentLedger.with { ledger in
            let store = InMemoryTokenStore()
            let app = try ledger.app(store: store)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let stolen = try #require(await store.load()?.session?.refreshToken)
            func exchange(_ token: String) async throws -> WireClient.Answer {
                try await ledger.server.client.call(
                    "POST", "/v1/auth/refresh", ["refresh_token": token])
            }
            let second = try #require(try await exchange(stolen).text("refresh_token"))
            let third = try #require(try await exchange(second).text("refresh_token"))

            let error = try await refusal { () throws(LedgerError) in try await app.refresh() }
            #expect(error.code == .invalidRefreshToken && error.requestID != nil)
            guard case .expired(let ended) = app.state else {
                Issue.record("\(app.state)")
                return
            }
            #expect(ended.cause == .refused && ended.profile.linkedProviders == ["apple"])
            #expect(await store.load()?.session == nil)
            #expect(try await exchange(third).errorCode == "INVALID_REFRESH_TOKEN")
            // The person signs in again.
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            #expect(app.state.profile?.userID == ended.profile.userID)
        }
    }

    @Test func `a refresh that was interrupted for too long has its own cause`() async throws {
        try await DevelopmentLedger.with { ledger in
            let store = InMemoryTokenStore()
            let transport = TestTransport(to: URLSessionTransport())
            let app = try ledger.app(transport, store: store)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            let first = try #require(await store.load()?.session?.refreshToken)
            transport.follow { _, _ in .lose }
            _ = try await refusal { () throws(LedgerError) in try await app.refresh() }
            // Ends the ledger's time for repetitions, as ten seconds do.
            let lost = try await ledger.server.client.call(
                "POST", "/v1/auth/refresh", ["refresh_token": first])
            _ = try await ledger.server.client.call(
                "POST", "/v1/auth/refresh",
                ["refresh_token": try #require(lost.text("refresh_token"))])
            transport.follow { _, _ in .pass }
            let error = try await refusal { () throws(LedgerError) in try await app.reload() }
            #expect(error.code == .invalidRefreshToken)
            guard case .expired(let ended) = app.state else {
                Issue.record("\(app.state)")
                return
            }
            #expect(ended.cause == .refreshInterrupted)
        }
    }

    @Test func `an app outlives a restart of the server`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let time = ManualTime()
            let app = try ledger.app(transport, time: time)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            #expect(try await ledger.server.stop() == 0)
            time.advance(Self.lifetime)
            let error = try await refusal { () throws(LedgerError) in try await app.reload() }
            #expect(error.code == .noAnswer && error.status == nil)
            #expect(transport.requests(of: "/refresh").count == 4)
            #expect(app.state.profile != nil)

            _ = try await ledger.deployment.serve(settings: [
                "LEDGER_LISTEN": "127.0.0.1:\(ledger.server.port)"
            ])
            #expect(try await app.reload().linkedProviders == ["apple"])
        }
    }

    @Test func `503 with Retry-After delays a refresh, and ends no session`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let time = ManualTime()
            let app = try ledger.app(transport, time: time)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            transport.follow { _, number in
                number < 3
                    ? .answer(.refusal(503, "UNAVAILABLE", headers: ["Retry-After": "2"])) : .pass
            }
            try await app.refresh()
            #expect(time.sleeps == [.seconds(2), .seconds(2)])
            #expect(try await ledger.refreshCount() == 1)
        }
    }

    @Test func `commands whose answers are lost act once`() async throws {
        try await DevelopmentLedger.with { ledger in
            let transport = TestTransport(to: URLSessionTransport())
            let app = try ledger.app(transport)
            try await app.signIn(at: "apple", with: ledger.proof("apple", "ada"))
            try await ledger.app().signIn(at: "google", with: ledger.proof("google", "bob"))
            transport.follow { _, number in number % 2 == 1 ? .lose : .pass }

            let linked = try await app.link("google", with: ledger.proof("google", "ada"))
            #expect(linked.linkedProviders == ["apple", "google"])
            let unlinked = try await app.unlink("google")
            #expect(unlinked.linkedProviders == ["apple"])
            let plan = try await app.previewMerge(
                of: "google", with: ledger.proof("google", "bob"))
            let merge = try await app.merge(
                plan, "google", with: ledger.proof("google", "bob", nonce: plan.digest))
            #expect(merge.linkedProviders == ["apple", "google"])
            #expect(transport.requests(of: "/account/merge").count == 2)

            let user = try #require(app.state.profile?.userID)
            let told = try await ledger.deployment.tool.run(["replay", "--account", user])
            #expect(told.output.split(separator: "ProviderUnlinked").count == 2)
            #expect(told.output.split(separator: "AccountsMerged").count == 2)
        }
    }
}
