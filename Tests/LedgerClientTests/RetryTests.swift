import Foundation
import LedgerClient
import Testing

/// Repetitions: their bounds, their waits and the requests that are never repeated.
@MainActor struct RetryTests {
    private let time = ManualTime()

    private func signedIn(_ transport: TestTransport) async throws -> AuthSession {
        let session = try app(
            transport,
            store: InMemoryTokenStore(
                .signedIn(expiresAt: time.wall.addingTimeInterval(600))),
            time: time)
        try await session.start()
        return session
    }

    @Test func `503 is repeated after Retry-After, as the same request`() async throws {
        let transport = TestTransport { _, number in
            number < 3
                ? .answer(.refusal(503, "UNAVAILABLE", headers: ["Retry-After": "7"]))
                : .answer(.account())
        }
        let profile = try await signedIn(transport).reload()
        #expect(profile.identities.map(\.email) == ["a@example.com"])
        #expect(time.sleeps == [.seconds(7), .seconds(7)])
        #expect(Set(transport.requests.map { $0.headers["X-Request-Id"] }).count == 1)
    }

    @Test(arguments: [true, false])
    func `a refusal after a lost answer of the same refresh is no sign of a thief`(
        _ isLost: Bool
    ) async throws {
        let transport = TestTransport { _, number in
            switch number {
            case 1 where isLost: .lose
            case 1, 2: .answer(.refusal(503, "UNAVAILABLE", headers: ["Retry-After": "10"]))
            default: .answer(.refusal(401, "INVALID_REFRESH_TOKEN"))
            }
        }
        let session = try await signedIn(transport)
        _ = try await refusal { () throws(LedgerError) in try await session.refresh() }
        guard case .expired(let ended) = session.state else {
            Issue.record("\(session.state)")
            return
        }
        #expect(ended.cause == (isLost ? .refreshInterrupted : .refused))
        #expect(transport.requests.count == 3)
    }

    @Test func `a Retry-After that is a date counts from that of the answer`() async throws {
        let transport = TestTransport { _, number in
            let headers = [
                "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
                "Retry-After": "Sun, 06 Nov 1994 08:49:4\(number) GMT",
            ]
            return number < 3
                ? .answer(.refusal(503, "UNAVAILABLE", headers: headers)) : .answer(.account())
        }
        try await signedIn(transport).reload()
        #expect(time.sleeps == [.seconds(4), .seconds(5)])
    }

    @Test(arguments: [429, 502, 503, 504])
    func `waits double, and the tries end`(_ status: Int) async throws {
        let transport = TestTransport { _, _ in .answer(TransportResponse(status: status)) }
        let session = try await signedIn(transport)
        let error = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(error.status == status)
        #expect(transport.requests.count == 4)
        #expect(time.sleeps == [.milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(session.state.profile != nil)
    }

    @Test func `a wait that is longer than the call may take is the caller's`() async throws {
        let transport = TestTransport { _, _ in
            .answer(.refusal(429, "RATE_LIMITED", headers: ["Retry-After": "3600"]))
        }
        let session = try await signedIn(transport)
        let error = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(error.code == .rateLimited)
        #expect(error.retryAfter == .seconds(3600))
        #expect(time.sleeps.isEmpty && transport.requests.count == 1)
    }

    @Test func `the time of a call bounds its tries`() async throws {
        let time = time
        let transport = TestTransport { _, _ in
            time.advance(.seconds(14))
            return .lose
        }
        let session = try await signedIn(transport)
        let error = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(error.code == .noAnswer)
        #expect(transport.requests.count == 3, "at 0, 14 and 28 of 30 seconds")
    }

    @Test func `a fault is not repeated`() async throws {
        let transport = TestTransport { _, _ in .answer(.refusal(500, "INTERNAL")) }
        let session = try await signedIn(transport)
        let error = try await refusal { () throws(LedgerError) in try await session.reload() }
        #expect(error.code == .internalError && transport.requests.count == 1)
    }

    @Test func `a sign-in whose answer is lost is not repeated`() async throws {
        let transport = TestTransport { _, _ in .lose }
        let session = try app(transport, time: time)
        let error = try await refusal { () throws(LedgerError) in
            try await session.signIn(at: "apple", with: .idToken("t"))
        }
        #expect(error.code == .noAnswer && transport.requests.count == 1)
        #expect(
            transport.requests.first?.headers["Idempotency-Key"] == nil, "the ledger refuses one")
    }

    @Test func `a sign-in that was not sent is repeated`() async throws {
        let transport = TestTransport { _, number in
            number == 1 ? .unsent : .answer(.session(1))
        }
        let session = try app(transport, time: time)
        try await session.signIn(at: "apple", with: .idToken("t"))
        #expect(session.state.profile?.userID == "ada" && transport.requests.count == 2)
    }

    @Test func `commands carry a key, which their repetitions have, too`() async throws {
        let transport = TestTransport { request, number in
            guard request.url.path().contains("/link/") else { return .answer(.account()) }
            return number % 2 == 1
                ? .lose : .answer(.json(200, #"{"linked_providers":["apple"],"message":""}"#))
        }
        let session = try await signedIn(transport)
        try await session.link("google", with: .idToken("t"))
        let keys = transport.requests(of: "/link/google").map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)

        transport.follow { request, _ in
            request.url.path().contains("/link/")
                ? .answer(.json(200, #"{"linked_providers":["apple"],"message":""}"#))
                : .answer(.account())
        }
        try await session.unlink("google", identity: "a/b", key: "my-key")
        let sent = try #require(transport.requests.first)
        #expect(sent.headers["Idempotency-Key"] == "my-key")
        #expect(sent.url.absoluteString.hasSuffix("/v1/auth/link/google?identity_id=a%2Fb"))
        #expect(sent.method == "DELETE" && sent.body == nil)
    }

    @Test func `a command keeps its key when the session is renewed in between`() async throws {
        let transport = TestTransport { request, number in
            guard request.url.path().contains("/link/") else {
                return .answer(request.method == "GET" ? .account() : .session(2))
            }
            return switch number {
            case 1: .lose
            case 2: .answer(.refusal(401, "INVALID_ACCESS_TOKEN"))
            default: .answer(.json(200, #"{"linked_providers":["apple"],"message":""}"#))
            }
        }
        try await signedIn(transport).link("google", with: .idToken("t"))
        let links = transport.requests(of: "/link/google")
        #expect(
            links.map { $0.headers["Authorization"] } == [
                "Bearer access-1", "Bearer access-1", "Bearer access-2",
            ])
        #expect(Set(links.map { $0.headers["Idempotency-Key"] }).count == 1)
        #expect(links.first?.headers["Idempotency-Key"] != nil)
    }

    @Test func `a cancelled wait ends the call`() async throws {
        let cancelling = ManualTime(cancelsSleep: true)
        let transport = TestTransport { _, _ in .answer(TransportResponse(status: 503)) }
        let session = try app(transport, time: cancelling)
        let error = try await refusal { () throws(LedgerError) in try await session.providers() }
        #expect(error.code == .cancelled && transport.requests.count == 1)
    }

    @Test func `an answer that is not the ledger's is an error`() async throws {
        let page = TransportResponse.json(200, "<p>Welcome to the hotel")
        let redirection = TransportResponse(status: 302, headers: ["Location": "http://x"])
        let long = TransportResponse(
            status: 200, body: Data(repeating: 0x20, count: 1 << 20) + Data("{}".utf8))
        for answer in [page, redirection, long] {
            let session = try app(TestTransport { _, _ in .answer(answer) }, time: time)
            let error = try await refusal { () throws(LedgerError) in
                try await session.providers()
            }
            #expect(error.code == .unexpectedAnswer && error.status == answer.status)
        }
    }

    @Test(
        arguments: [
            "http://ledger.example", "https://u@ledger.example", "https://ledger.example?q",
            "https://ledger.example#f", "ftp://localhost",
        ])
    func `an address that is not safe is refused`(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: LedgerError.self) { try LedgerAddress(url) }
    }

    @Test func `a path has the tenant and encoded names`() async throws {
        let url = try #require(URL(string: "http://localhost:8080/base/"))
        let transport = TestTransport { _, _ in .answer(.session(1)) }
        let session = AuthSession(
            try LedgerAddress(url, tenant: "a b"), store: InMemoryTokenStore(),
            transport: transport)
        try await session.signIn(at: "ü/?", with: .anonymous())
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "http://localhost:8080/base/t/a%20b/v1/auth/sign-in/%C3%BC%2F%3F"
            ])
        for name in [".", "..", ""] {
            let error = try await refusal { () throws(LedgerError) in
                try await session.signIn(at: name, with: .anonymous())
            }
            #expect(error.code == .invalidRequest)
        }
    }
}

extension StoredState {
    /// A session that a process stored.
    static func signedIn(
        as user: String = "ada", token number: Int = 1, expiresAt: Date,
        clockOffset: TimeInterval = 0
    ) -> StoredState {
        var state = StoredState()
        state.session = Session(
            profile: Profile(userID: user, linkedProviders: ["apple"]),
            accessToken: "access-\(number)", refreshToken: "refresh-\(number)",
            expiresAt: expiresAt, lifetime: 600, clockOffset: clockOffset)
        return state
    }
}
