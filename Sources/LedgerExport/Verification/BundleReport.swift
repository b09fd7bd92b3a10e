/// What was found to hold in a bundle.
package struct BundleReport: Hashable, Sendable {
    package let head: BundleHead
    /// The keys that signed the bundle's checkpoint.
    package internal(set) var signers: [String] = []
    /// Whether the keys were those that the bundle itself brings along.
    package internal(set) var trustsOwnKeys = false
    package internal(set) var events: Int64 = 0
    /// Accounts whose histories are without a gap.
    package internal(set) var accounts = 0
    /// Checkpoints whose roots are those of the entries, or which the bundle's continues.
    package internal(set) var checkpoints: Int64 = 0
    /// Those among them that no known key has signed.
    package internal(set) var unsignedCheckpoints: Int64 = 0
    package internal(set) var disclosures: Int64 = 0
    /// Those that are not there because their account was erased.
    package internal(set) var redactedDisclosures: Int64 = 0
    /// Those that are not there because they are about other accounts than the bundle.
    package internal(set) var leftOutDisclosures: Int64 = 0
    /// The last event of the account, in an account's bundle.
    package internal(set) var last: Last?

    /// Where an account's history ends.
    package struct Last: Hashable, Sendable {
        package let sequence: Int64
        package let position: Int64
    }

    init(head: BundleHead) {
        self.head = head
    }

    /// What is complete by all that was checked, and what could not be.
    package var conclusion: String {
        guard let last else {
            return "everything holds: every entry of the log up to the checkpoint is here"
        }
        return
            "everything holds up to seq \(last.sequence) at position \(last.position), without a "
            + "gap; that no later entry of the account follows is not proved"
    }
}
