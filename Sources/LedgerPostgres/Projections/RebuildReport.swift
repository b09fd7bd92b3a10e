package import Ledger
package import LedgerEngine

/// The result of refolding one projection of one tenant from position 0.
package struct RebuildReport: Hashable, Sendable {
    /// One row that differed from the log; contains no personal data.
    package struct Difference: Hashable, Sendable {
        /// The kind of difference.
        package enum Kind: String, Sendable {
            /// A row of the log's fold was missing.
            case missing
            /// A row existed that the log does not produce.
            case surplus
            /// A row had different content.
            case different
        }

        package let kind: Kind
        /// The position of the event that produces the row, or that the row names.
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

    /// The number of rows that were repaired.
    package var differences: Int64 { missing + surplus + different }
}
