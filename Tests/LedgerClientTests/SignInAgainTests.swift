import Foundation
import LedgerClient
import LinkedAccounts
import Testing

/// The screen of linked accounts after a change that needs a recent sign-in.
@MainActor struct SignInAgainTests {
    private let time = ManualTime()
    private let transport = TestTransport()

    /// Shows the account of Ada, whose browser signs in as another person, or as her.
    private func screen(
        signsInAs user: String = "ada", asksSecondFactor: Bool
    ) async throws -> (LinkedAccountsModel, AuthSession) {
        let challenge = #"""
            {"sign_in_token":"t","expires_in":300,"factors":[
             {"factor_id":"f1","type":"totp"},{"factor_id":"f2","type":"phone","hint":"6789"}]}
            """#
        transport.follow { request, _ in
            switch request.url.path().split(separator: "/").dropFirst().joined(separator: "/") {
            case "providers":
                .answer(
                    .json(
                        200,
                        #"""
                        {"providers":[{"name":"apple","display_name":"Apple","type":"oidc",
                          "has_flow":true}]}
                        """#))
            case "account":
                .answer(
                    .account(
                        request.headers["Authorization"] == "Bearer access-1" ? "ada" : user))
            case "auth/flows":
                .answer(.json(200, #"{"authorize_url":"https://idp.example/authorize"}"#))
            case "auth/second-factor/code":
                .answer(.json(200, #"{"challenge_id":"c","expires_in":600}"#))
            case "auth/sign-in/apple" where asksSecondFactor:
                .answer(.refusal(403, "SECOND_FACTOR_REQUIRED", details: challenge))
            case "auth/second-factor" where request.text("code") != "123456":
                .answer(.refusal(401, "INVALID_CODE"))
            case "auth/sign-in/apple", "auth/second-factor":
                .answer(.session(2, user: user))
            default: .answer(.json(200, "{}"))
            }
        }
        let store = InMemoryTokenStore(.signedIn(expiresAt: time.wall.addingTimeInterval(600)))
        let session = try app(transport, store: store, time: time)
        try await session.start()
        let model = LinkedAccountsModel(session, browser: try StubBrowser(), language: .english)
        await model.load()
        #expect(model.rows.map(\.isLinked) == [true])
        return (model, session)
    }

    private func challenge(_ model: LinkedAccountsModel) throws -> SecondFactorChallenge {
        guard case .secondFactor(let challenge) = model.question else {
            throw LedgerError(.noSession, message: "\(model.question as Any)")
        }
        return challenge
    }

    @Test func `a sign-in with a second factor asks for it, and again after a wrong code`()
        async throws
    {
        let (model, session) = try await screen(asksSecondFactor: true)
        await model.signInAgain(at: "apple")
        let phone = try #require(try challenge(model).factors.last)
        #expect(model.failure == nil && model.rows.map(\.isLinked) == [true])
        await model.sendSecondFactorCode(to: phone)
        #expect(model.codeReceiver == phone)
        await model.completeSecondFactor(phone, code: "000000")
        #expect(model.failure != nil)
        #expect(try challenge(model).factors.last == phone)
        await model.completeSecondFactor(phone, code: "123456")
        #expect(model.failure == nil && model.question == nil)
        let last = transport.requests(of: "/second-factor").last
        #expect(last?.text("factor_id") == "f2" && last?.text("challenge_id") == "c")
        #expect(try await session.accessToken() == "access-2")
        #expect(model.rows.map(\.isLinked) == [true])
    }

    @Test func `a second step that is dismissed leaves the former sign-in`() async throws {
        let (model, session) = try await screen(asksSecondFactor: true)
        await model.signInAgain(at: "apple")
        let app = try #require(try challenge(model).factors.first)
        await model.cancelSecondFactor()
        #expect(model.question == nil && session.state.profile?.userID == "ada")
        #expect(try await session.accessToken() == "access-1")
        await model.completeSecondFactor(app, code: "123456")
        #expect(model.failure != nil && transport.requests(of: "/second-factor").isEmpty)
    }

    @Test(arguments: [false, true])
    func `a sign-in to another account is told, and the screen shows that account`(
        _ asksSecondFactor: Bool
    ) async throws {
        let (model, session) = try await screen(
            signsInAs: "bob", asksSecondFactor: asksSecondFactor)
        await model.signInAgain(at: "apple")
        if asksSecondFactor {
            let app = try #require(try challenge(model).factors.first)
            await model.completeSecondFactor(app, code: "123456")
        }
        #expect(model.question == .otherAccount && model.failure == nil)
        #expect(session.state.profile?.userID == "bob")
        #expect(model.rows.map(\.isLinked) == [true])
        await model.signOut()
        #expect(model.question == nil && session.state == .signedOut)
    }

    @Test func `a sign-in to the same account asks nothing`() async throws {
        let (model, session) = try await screen(asksSecondFactor: false)
        await model.signInAgain(at: "apple")
        #expect(model.question == nil && model.failure == nil)
        #expect(try await session.accessToken() == "access-2")
    }
}
