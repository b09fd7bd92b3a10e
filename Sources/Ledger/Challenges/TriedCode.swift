/// The comparison of a tried code with that of its challenge.
package struct ComparedCode: Sendable {
    package let isRight: Bool
    /// The counts that a wrong code raises; no code is accepted while one of them has reached its limit.
    package let counts: [CodeCount]
    /// The counts that a code lowers when it is accepted at the first try of its challenge.
    package let lowers: [CodeCount]
    /// Whether a right code is used up by the comparison, since not every use of it ends in a command.
    package let isUsedUp: Bool

    /// Describes a comparison.
    package init(
        isRight: Bool, counts: [CodeCount], lowers: [CodeCount] = [], isUsedUp: Bool = false
    ) {
        self.isRight = isRight
        self.counts = counts
        self.lowers = lowers
        self.isUsedUp = isUsedUp
    }
}

/// The outcome of a counted try of a code.
package enum TriedCode: Sendable {
    case right(StoredChallenge)
    case wrong
    /// A count has reached its limit, whatever the code.
    case limited(retryAfterSeconds: Int64)

    /// Describes the outcome of a comparison, with the seconds to wait if a count has reached its limit.
    package init(_ compared: ComparedCode, of challenge: StoredChallenge, wait: Int64?) {
        self =
            if let wait {
                .limited(retryAfterSeconds: wait)
            } else {
                compared.isRight ? .right(challenge) : .wrong
            }
    }
}
