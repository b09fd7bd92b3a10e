import Ledger
import LedgerTestSupport
import Testing

/// The ends of sessions, and the exchange of their refresh tokens.
struct SessionTests {
    private func token(_ number: UInt8) -> Digest { digest(Array(repeating: number, count: 32)) }

    private func refresh(_ caller: Caller, _ presented: Digest, next: UInt8) -> RefreshSession {
        RefreshSession(
            session: caller.session, presented: presented, successor: token(next),
            sealedSuccessor: [next])
    }

    /// Returns the exchange; nil for another result.
    private func exchange(_ effects: Scenario.Effects) -> RefreshTokenState.Exchange? {
        guard case .success(let reply) = effects.result, effects.events.isEmpty else { return nil }
        return RefreshSession.success(in: reply)?.exchange
    }

    @Test func `a sign-out ends one session or all of the account`() throws {
        var scenario = Scenario()
        let callers = try (0..<3).map { _ in try scenario.given.signIn(subject("apple", "ada")) }
        func signedOut(_ caller: Caller, _ scope: SignedOut.Scope) -> Scenario.Effects {
            then(
                .signedOut,
                .signedOut(
                    SignedOut(account: caller.account, scope: scope, session: caller.session)))
        }
        #expect(
            try scenario.when(SignOut(caller: callers[0], scope: .session))
                == signedOut(callers[0], .session))
        #expect(
            try scenario.when(SignOut(caller: callers[0], scope: .session))
                == refused(.sessionEnded))
        #expect(
            try scenario.when(SignOut(caller: callers[1], scope: .everywhere))
                == signedOut(callers[1], .everywhere))
        #expect(
            try scenario.when(SignOut(caller: callers[2], scope: .session))
                == refused(.sessionEnded))
    }

    @Test func `a refresh token is exchanged, and its successor repeated for lost answers`() throws
    {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let first = try #require(scenario.given.refreshToken(of: ada))
        #expect(exchange(try scenario.when(refresh(ada, first, next: 1))) == .fresh)
        #expect(
            exchange(try scenario.when(refresh(ada, first, next: 2)))
                == .repeated(sealedSuccessor: [1]))
        #expect(exchange(try scenario.when(refresh(ada, token(1), next: 3))) == .fresh)
    }

    @Test func `the second use of a refresh token ends its session`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let first = try #require(scenario.given.refreshToken(of: ada))
        _ = try scenario.when(refresh(ada, first, next: 1))
        scenario.given.advanceClock(bySeconds: 11)
        let revoked = SessionRevoked(
            account: ada.account, reason: .refreshTokenReused, session: ada.session)
        #expect(
            try scenario.when(refresh(ada, first, next: 2))
                == refused(.invalidRefreshToken, .sessionRevoked(revoked)))
        #expect(
            try scenario.when(refresh(ada, token(1), next: 3)) == refused(.invalidRefreshToken))
    }

    @Test func `a session without a refresh ends after a month`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let first = try #require(scenario.given.refreshToken(of: ada))
        scenario.given.advanceClock(bySeconds: 30 * 86_400)
        #expect(try scenario.when(refresh(ada, first, next: 1)) == refused(.invalidRefreshToken))
        #expect(
            try scenario.when(SignOut(caller: ada, scope: .session)) == refused(.sessionEnded))
    }
}
