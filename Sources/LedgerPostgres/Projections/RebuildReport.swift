package import Ledger

/// What refolding one projection of one tenant from position 0 found and did.
package struct RebuildReport: Hashable, Sendable {
    /// One row that was not what the log says; names no personal data.
    package struct Difference: Hashable, Sendable {
        /// In what way a row differed.
        package enum Kind: String, Sendable {
            /// The log gives a row that was not there.
            case missing
            /// A row was there that the log does not give.
            case surplus
            /// A row was there with other content.
            case different
        }

        package let kind: Kind
        /// The position of the event that gives the row, or that the row names.
        package let position: LogPosition
        package let account: AccountID
        /// The columns that differ; empty unless the kind is `different`.
        package let columns: String
    }

    package let tenant: TenantID
    package let projection: ProjectionName
    /// The position that the refold reached: the checkpoint, unless a fault ended it earlier.
    package let position: LogPosition
    package internal(set) var missing: Int64 = 0
    package internal(set) var surplus: Int64 = 0
    package internal(set) var different: Int64 = 0
    /// The difference with the lowest position.
    package internal(set) var first: Difference?
    /// The event that cannot be folded: nothing was compared and nothing repaired.
    package internal(set) var fault: LogDamage?

    /// Rows that were repaired.
    package var differences: Int64 { missing + surplus + different }
}
