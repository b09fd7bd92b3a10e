import Foundation
import LedgerClient
import Testing

/// Answers that come when another session has taken the place of the one that asked.
@MainActor struct LateAnswerTests {
    /// A change whose answer is a new session of the account.
    enum Change: CaseIterable, Sendable {
        case password, address, factor
    }

    /// An event between the request of a change and its answer.
    enum Event: CaseIterable, Sendable {
        case otherAccount, signOut, sameAccount, end

        /// The access token that is stored after the answer.
        var token: String? {
            switch self {
            case .otherAccount: "access-7"
            case .signOut: nil
            case .sameAccount, .end: "access-9"
            }
        }
    }

    private let time = ManualTime()
    private let transport = TestTransport()
    private let sent = SentCode(challengeID: "c", expiresIn: 600)

    private func signedIn() -> InMemoryTokenStore {
        InMemoryTokenStore(.signedIn(expiresAt: time.wall.addingTimeInterval(600)))
    }

    private func happens(_ event: Event, in app: AuthSession?) async {
        switch event {
        case .otherAccount: _ = try? await app?.signIn(at: "bob", with: .idToken("t"))
        case .signOut: try? await app?.signOut()
        case .sameAccount: _ = try? await app?.signIn(at: "ada", with: .idToken("t"))
        case .end: try? await app?.refresh()
        }
    }

    /// Makes a change, and returns whether its session is saved; nil if the result does not tell.
    private func make(
        _ change: Change, in app: AuthSession
    ) async throws(LedgerError) -> Bool? {
        switch change {
        case .password: return try await app.changePassword(to: "p").isSaved
        case .address:
            return try await app.changeAddress(
                from: "a@example.com", sent, code: "1", at: "email"
            ).isSaved
        case .factor:
            let enrolment = try await app.enrolFactor(.phone(sent, code: "1"))
            #expect(enrolment.recoveryCodes == ["r"], "they are returned only once")
            return nil
        }
    }

    @Test(arguments: Change.allCases, Event.allCases)
    func `the answer to a change replaces the session of its account only`(
        _ change: Change, _ event: Event
    ) async throws {
        let store = signedIn()
        let session = try app(transport, store: store, time: time)
        try await session.start()
        let renewed = TransportResponse.session(9)
        transport.follow { [weak session] request, _ in
            switch (request.method, request.url.lastPathComponent) {
            case ("GET", _): return .answer(.account(event == .otherAccount ? "bob" : "ada"))
            case (_, "sign-out"): return .answer(.json(200, "{}"))
            case (_, "refresh"): return .answer(.refusal(401, "INVALID_REFRESH_TOKEN"))
            case (_, "ada"): return .answer(.session(5))
            case (_, "bob"): return .answer(.session(7, user: "bob"))
            default:
                await happens(event, in: session)
                guard change == .factor else { return .answer(renewed) }
                let inner = String(decoding: renewed.body, as: UTF8.self)
                return .answer(
                    .json(
                        200,
                        #"{"factor_id":"f","recovery_codes":["r"],"session":\#(inner)}"#))
            }
        }
        let isSaved = try await make(change, in: session)
        #expect(await store.load()?.session?.accessToken == event.token)
        #expect(change == .factor || isSaved == (event.token == "access-9"))
        switch event {
        case .otherAccount: #expect(session.state.profile?.userID == "bob")
        case .signOut: #expect(session.state == .signedOut)
        case .sameAccount, .end: #expect(session.state.profile?.userID == "ada")
        }
    }

    @Test(arguments: [Event.otherAccount, .signOut])
    func `the answer to a second step that was abandoned opens no session`(
        _ event: Event
    ) async throws {
        let details =
            #"{"sign_in_token":"t","expires_in":300,"factors":[{"factor_id":"f","type":"totp"}]}"#
        let store = signedIn()
        let session = try app(transport, store: store, time: time)
        transport.follow { [weak session] request, _ in
            switch request.url.lastPathComponent {
            case "apple":
                return .answer(.refusal(403, "SECOND_FACTOR_REQUIRED", details: details))
            case "bob": return .answer(.session(7, user: "bob"))
            case "sign-out": return .answer(.json(200, "{}"))
            default:
                await happens(event, in: session)
                return .answer(.session(9))
            }
        }
        try await session.signIn(at: "apple", with: .idToken("t"))
        guard case .needsSecondFactor(let challenge) = session.state else {
            Issue.record("\(session.state)")
            return
        }
        let factor = try #require(challenge.factors.first)
        let error = try await refusal { () throws(LedgerError) in
            try await session.completeSecondFactor(factor, code: "123456")
        }
        #expect(error.code == .noSession)
        #expect(await store.load()?.session?.accessToken == event.token)
        #expect(session.state.profile?.userID == (event == .otherAccount ? "bob" : nil))
    }
}
