/// The result of a rewrap.
package struct RewrapReport: Hashable, Sendable {
    /// The kinds of secrets that a rewrap renews; their texts are those of the report.
    package enum Kind: String, CaseIterable, Sendable {
        case accountKeys = "account keys"
        case webhookSecrets = "webhook secrets"
        case passwords
        case factors = "second factors"
        /// Their digests.
        case addresses
    }

    private static let namesMax = 20

    private var counts: [Kind: Int64] = [:]
    private var unreadableCounts: [Kind: Int64] = [:]
    private var names: [Kind: [String]] = [:]

    /// Creates an empty report.
    package init() {}

    /// Returns the number of rewrapped secrets.
    package func rewrapped(_ kind: Kind) -> Int64 { counts[kind] ?? 0 }

    /// Returns the number of secrets that no key of the directory reads, and the ids of some of them.
    package func unreadable(_ kind: Kind) -> (count: Int64, names: [String]) {
        (unreadableCounts[kind] ?? 0, names[kind] ?? [])
    }

    /// Whether everything was readable.
    package var isComplete: Bool { unreadableCounts.isEmpty }

    mutating func add(_ count: Int64, _ kind: Kind) {
        counts[kind, default: 0] += count
    }

    mutating func addUnreadable(_ kind: Kind, _ name: String) {
        unreadableCounts[kind, default: 0] += 1
        if names[kind, default: []].count < Self.namesMax { names[kind, default: []].append(name) }
    }
}
