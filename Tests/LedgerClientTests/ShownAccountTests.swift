import Foundation
import LedgerClient
import Testing

/// Calls that are meant for the account that is shown, while another process signs in to another one.
@MainActor struct ShownAccountTests {
    /// A call of an account.
    enum Call: CaseIterable, Sendable {
        case reload, accessToken, refresh, secret, activity
        case link, unlink, linkPassword, sendLinkCode, prove, previewMerge, merge
        case previewOtherMerge, mergeOther
        case nameIdentity, keepIdentity, makePasskey, mergePasskey
        case changePassword, sendAddressCode, changeAddress
        case factors, authenticatorApp, sendFactorCode, enrolFactor, factorPasskey
        case removeFactor, keepFactor, renewRecoveryCodes
    }

    private let time = ManualTime()
    private let sent = SentCode(challengeID: "c", expiresIn: 600)

    private func stored(_ user: String, _ number: Int) -> StoredState {
        var state = StoredState.signedIn(
            as: user, token: number, expiresAt: time.wall.addingTimeInterval(600))
        state.session?.anonymousSecret = "secret of \(user)"
        return state
    }

    private func plan() throws -> MergePlan {
        try JSONDecoder().decode(
            MergePlan.self,
            from: Data(
                """
                {"plan_digest":"d","expires_in":600,"user_id":"ada","absorbed_user_id":"x",
                 "kept":[],"moved":[],"left_behind":[],"choices":[],"factors":[],
                 "linked_providers":[]}
                """.utf8))
    }

    private func make(
        _ call: Call, in app: AuthSession, _ plan: MergePlan, _ browser: StubBrowser
    ) async throws(LedgerError) {
        switch call {
        case .reload: _ = try await app.reload()
        case .accessToken: _ = try await app.accessToken()
        case .refresh: try await app.refresh()
        case .secret: _ = try await app.anonymousSecret()
        case .activity: _ = try await app.activity()
        case .link: _ = try await app.link("google", with: .idToken("t"))
        case .unlink: _ = try await app.unlink("apple")
        case .linkPassword: _ = try await app.linkPassword(email: "a@example.com", password: "p")
        case .sendLinkCode: _ = try await app.sendLinkCode(to: "a@example.com", by: "email")
        case .prove: _ = try await app.prove(.link, at: "google", with: browser)
        case .previewMerge: _ = try await app.previewMerge(of: "google", with: .idToken("t"))
        case .merge: _ = try await app.merge(plan, "google", with: .idToken("t"))
        case .previewOtherMerge: _ = try await app.previewMerge(ofAccountWith: "t")
        case .mergeOther: _ = try await app.merge(plan, ofAccountWith: "t")
        case .nameIdentity: _ = try await app.nameIdentity("i", "n")
        case .keepIdentity: _ = try await app.keepIdentity("i")
        case .makePasskey: _ = try await app.beginPasskey(PasskeyCreation.link)
        case .mergePasskey: _ = try await app.beginPasskey(PasskeyUse.merge(plan))
        case .changePassword: _ = try await app.changePassword(to: "p")
        case .sendAddressCode: _ = try await app.sendAddressCode(to: "a@example.com", by: "email")
        case .changeAddress:
            _ = try await app.changeAddress(from: "a@example.com", sent, code: "1", at: "email")
        case .factors: _ = try await app.factors()
        case .authenticatorApp: _ = try await app.beginAuthenticatorApp()
        case .sendFactorCode: _ = try await app.sendFactorCode(to: "+4915123456789")
        case .enrolFactor: _ = try await app.enrolFactor(.phone(sent, code: "1"))
        case .factorPasskey: _ = try await app.beginPasskey(PasskeyCreation.secondFactor)
        case .removeFactor: _ = try await app.removeFactor("f")
        case .keepFactor: _ = try await app.keepFactor("f")
        case .renewRecoveryCodes: _ = try await app.renewRecoveryCodes()
        }
    }

    @Test(arguments: Call.allCases)
    func `a call on the screen of one account is not sent for another one`(
        _ call: Call
    ) async throws {
        let store = InMemoryTokenStore(stored("ada", 1))
        let transport = TestTransport { _, _ in .answer(.account("bob")) }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        await store.save(stored("bob", 7))
        let (agreed, browser) = (try plan(), try StubBrowser())
        let error = try await refusal { () throws(LedgerError) in
            try await make(call, in: session, agreed, browser)
        }
        #expect(error.code == .noSession && transport.requests.isEmpty)
        #expect(await store.load() == stored("bob", 7))
        #expect(session.state.profile?.userID == "bob", "the screen is told")
        try await session.reload()
        #expect(transport.requests.map { $0.headers["Authorization"] } == ["Bearer access-7"])
    }

    @Test(arguments: [true, false])
    func `a call after the end of a session, or beside a second factor, is for that account`(
        _ hasEnded: Bool
    ) async throws {
        let store = InMemoryTokenStore(stored("ada", 1))
        let details = #"{"sign_in_token":"t","expires_in":300,"factors":[]}"#
        let transport = TestTransport { _, _ in
            .answer(
                hasEnded
                    ? .refusal(401, "INVALID_REFRESH_TOKEN")
                    : .refusal(403, "SECOND_FACTOR_REQUIRED", details: details))
        }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        if hasEnded {
            _ = try await refusal { () throws(LedgerError) in try await session.refresh() }
        } else {
            try await session.signIn(at: "apple", with: .idToken("t"))
        }
        #expect(session.state.profile == nil)
        await store.save(stored("bob", 7))
        let error = try await refusal { () throws(LedgerError) in
            try await session.unlink("apple")
        }
        #expect(error.code == .noSession && transport.requests.count == 1)
    }

    @Test func `a second step waits no longer than its first one is good`() async throws {
        let store = InMemoryTokenStore(stored("ada", 1))
        let details = #"{"sign_in_token":"t","expires_in":300,"factors":[]}"#
        let transport = TestTransport { request, _ in
            .answer(
                request.method == "GET"
                    ? .account("bob")
                    : .refusal(403, "SECOND_FACTOR_REQUIRED", details: details))
        }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        try await session.signIn(at: "apple", with: .idToken("t"))
        await store.save(stored("bob", 7))
        for _ in 1...2 {
            let error = try await refusal { () throws(LedgerError) in try await session.reload() }
            #expect(error.code == .noSession && session.state.profile == nil)
        }
        time.advance(.seconds(300))
        let error = try await refusal { () throws(LedgerError) in
            try await session.completeSecondFactor(
                SecondFactor(id: "f", kind: .authenticatorApp), code: "1")
        }
        #expect(error.code == .noSession && session.state.profile?.userID == "bob")
        try await session.reload()
        #expect(transport.requests.count == 2)
    }

    @Test(arguments: [false, true])
    func `a sign-out on the screen of one account does not end another one's session`(
        _ everywhere: Bool
    ) async throws {
        let store = InMemoryTokenStore(stored("ada", 1))
        let transport = TestTransport { _, _ in .answer(.json(200, "{}")) }
        let session = try app(transport, store: store, time: time)
        try await session.start()
        await store.save(stored("bob", 7))
        if everywhere {
            let error = try await refusal { () throws(LedgerError) in
                try await session.signOut(everywhere: true)
            }
            #expect(error.code == .noSession, "the sessions of the first one may go on")
        } else {
            try await session.signOut()
        }
        #expect(transport.requests.isEmpty)
        #expect(await store.load() == stored("bob", 7))
        #expect(session.state.profile?.userID == "bob")
        try await session.signOut()
        #expect(session.state == .signedOut && transport.requests.count == 1)
    }
}
