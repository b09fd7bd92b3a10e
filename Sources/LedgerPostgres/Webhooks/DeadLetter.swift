package import Ledger

/// An event that was given up for an endpoint.
package struct DeadLetter: Hashable, Sendable {
    package let position: LogPosition
    package let event: EventID
    package let type: String
    package let accounts: [AccountID]
    package let attempts: Int
    package let attemptedAt: Timestamp?
    /// The status of the last answer, or why there was none.
    package let reason: String
}
