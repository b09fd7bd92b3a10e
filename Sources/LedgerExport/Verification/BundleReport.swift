/// The result of a successful verification.
package struct BundleReport: Hashable, Sendable {
    package let head: BundleHead
    /// The keys that signed the bundle's checkpoint.
    package internal(set) var signers: [String] = []
    /// Whether the keys were the bundle's own.
    package internal(set) var trustsOwnKeys = false
    package internal(set) var events: Int64 = 0
    /// The number of accounts whose histories have no gap.
    package internal(set) var accounts = 0
    /// The number of checkpoints whose roots match the entries, or which the bundle's extends.
    package internal(set) var checkpoints: Int64 = 0
    /// The number of those without a signature of a known key.
    package internal(set) var unsignedCheckpoints: Int64 = 0
    package internal(set) var disclosures: Int64 = 0
    /// The number of disclosures that are missing because their account was erased.
    package internal(set) var redactedDisclosures: Int64 = 0
    /// The number of disclosures that are omitted because they are about other accounts.
    package internal(set) var leftOutDisclosures: Int64 = 0
    /// The last event of the account, in an account's bundle.
    package internal(set) var last: Last?

    /// The end of an account's history.
    package struct Last: Hashable, Sendable {
        package let sequence: Int64
        package let position: Int64
    }

    init(head: BundleHead) {
        self.head = head
    }

    /// The proved completeness and its limits.
    package var conclusion: String {
        guard let last else {
            return "everything holds: every entry of the log up to the checkpoint is here"
        }
        return
            "everything holds up to seq \(last.sequence) at position \(last.position), without a "
            + "gap; that no later entry of the account follows is not proved"
    }
}
