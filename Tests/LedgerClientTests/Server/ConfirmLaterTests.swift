import Foundation
import LedgerClient
import LedgerTestSupport
import Testing

/// Addresses that are confirmed after the sign-up or the link, at a real server.
@Suite(.timeLimit(.minutes(5))) @MainActor struct ConfirmLaterTests {
    private static let password = "correct horse battery staple"
    private static let other = "another horse battery staple"

    @Test func `an account is open before its address is confirmed`() async throws {
        try await DevelopmentLedger.with(confirmsLater: true) { ledger in
            let email = "ada@example.com"
            let app = try ledger.app()
            let result = try await app.signUp(email: email, password: Self.password)
            guard case .signedIn(let signIn, let sent?) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(signIn.isNewUser && app.state == .signedIn(signIn.profile))
            #expect(result.sent == sent)
            #expect(try await app.reload().identities.map(\.isEmailVerified) == [false])
            try await app.signIn(at: "password", with: .code(sent, ledger.code(email)))
            #expect(app.state.profile?.userID == signIn.profile.userID)
            #expect(try await app.reload().identities.map(\.isEmailVerified) == [true])

            let stranger = try ledger.app()
            let taken = try await stranger.signUp(email: email, password: Self.other)
            guard case .codeSent = taken else {
                Issue.record("\(taken)")
                return
            }
            #expect(stranger.state == .signedOut)
        }
    }

    @Test func `a password is linked before its address is confirmed`() async throws {
        try await DevelopmentLedger.with(confirmsLater: true) { ledger in
            let (proved, claimed) = ("bob@example.com", "bob@example.org")
            let app = try ledger.app()
            let code = try await app.sendCode(to: proved, by: "email")
            try await app.signIn(at: "email", with: .code(code, ledger.code(proved)))
            let user = app.state.profile?.userID
            let linked = try await app.linkPassword(email: claimed, password: Self.password)
            #expect(linked.profile.linkedProviders == ["email", "password"])
            #expect(app.state == .signedIn(linked.profile))
            let sent = try #require(linked.confirmation)
            try await app.signIn(at: "password", with: .code(sent, ledger.code(claimed)))
            #expect(app.state.profile?.userID == user)

            let stranger = try ledger.app()
            _ = try await stranger.signUp(email: "eve@example.com", password: Self.other)
            let taken = try await refusal { () throws(LedgerError) in
                try await stranger.linkPassword(email: proved, password: Self.other)
            }
            #expect(taken.code == .providerConflict)

            let later = try ledger.app()
            let third = try await later.sendCode(to: "kim@example.com", by: "email")
            try await later.signIn(at: "email", with: .code(third, ledger.code("kim@example.com")))
            let own = try await later.linkPassword(
                email: "kim@example.com", password: Self.password)
            #expect(own.confirmation == nil, "the account has proved the address")
        }
    }
}
