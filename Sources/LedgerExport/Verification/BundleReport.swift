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

    init(head: BundleHead) {
        self.head = head
    }
}
