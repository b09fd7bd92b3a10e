import Ledger
import LedgerTestSupport
import Testing

/// Rules about time when a clock steps back.
@Suite struct ClockStepTests {
    private static let hour: Int64 = 3_600
    private static let policy = TenantPolicy(providers: Set(RandomCommands.providers))

    @Test func `a budget reports no wait longer than its window`() throws {
        var model = ModelLedger(policy: Self.policy)
        let caller = try model.signIn(subject("apple", "a"))
        for token in 1...5 { _ = try model.link(caller, .failure(.invalid), token: token) }
        model.advanceClock(bySeconds: -Self.hour)
        guard
            case .failure(.rateLimited(let wait)) = try model.link(
                caller, .failure(.invalid), token: 6)
        else {
            Issue.record("the sixth attempt is not limited")
            return
        }
        #expect(wait <= Self.hour)
    }

    @Test func `a refresh token that was used long ago does not become valid again`() throws {
        var model = ModelLedger(policy: Self.policy)
        let caller = try model.signIn(subject("apple", "a"))
        let first = try #require(model.refreshToken(of: caller))
        #expect(try model.refresh(caller, presenting: first).isRefreshed)
        model.advanceClock(bySeconds: 5)
        #expect(try model.refresh(caller, presenting: first).isRefreshed, "a lost answer")
        model.advanceClock(bySeconds: -8)
        #expect(try model.refresh(caller, presenting: first).isRefreshed, "a clock put right")
        model.advanceClock(bySeconds: -Self.hour)
        #expect(
            try model.refresh(caller, presenting: first) == .failure(.invalidRefreshToken),
            "a stolen token")
    }
}

extension Result<Reply, Refusal> {
    fileprivate var isRefreshed: Bool {
        if case .success(.refreshed) = self { true } else { false }
    }
}
