/// An account's remaining attempts to link or to merge with a credential.
///
/// Both count against one budget: each reveals whether an identity has an account.
struct AttemptBudget {
    let now: Timestamp
    /// The attempts inside the window.
    let recent: [DecisionState.Attempt: Timestamp]
    private let budget: Budget

    init(_ budget: Budget, of account: AccountID, in state: DecisionState, at now: Timestamp) {
        self.budget = budget
        self.now = now
        let start = now.adding(seconds: -budget.windowSeconds)
        let attempts = state.attempts[account] ?? [:]
        recent =
            attempts.allSatisfy { Self.counts($0, after: start) }
            ? attempts : attempts.filter { Self.counts($0, after: start) }
    }

    private static func counts(
        _ attempt: (key: DecisionState.Attempt, value: Timestamp), after start: Timestamp
    ) -> Bool {
        [.link, .merge].contains(attempt.key.action) && attempt.value > start
    }

    /// The refusal of one more attempt, if the budget is exhausted.
    var exhausted: Refusal? {
        guard recent.count >= budget.limit else { return nil }
        let earliest = recent.values.min() ?? now
        return .rateLimited(
            retryAfterSeconds: budget.secondsUntilFree(since: earliest, at: now))
    }
}
