internal import Ledger

/// Counts what a bundle discloses, and settles why something is missing.
///
/// Each digest of an entry stands for one disclosure about the event's first account. Where it is not
/// there, an erasure of that account explains it, or the rule that an account's bundle holds nothing
/// about other accounts; or nothing does.
package struct DisclosureTally: Sendable {
    /// Disclosures that are missing, and nothing in the bundle explains it.
    package struct Withheld: Hashable, Sendable {
        package let count: Int64
        /// Where the first of them is missing.
        package let position: Int64
    }

    private let scope: BundleHead.Scope
    private let isDisclosed: Bool
    /// What is missing of each account, and from where on.
    private var missing: [AccountID?: (count: Int64, first: Int64)] = [:]
    private var erased: Set<AccountID> = []
    /// Disclosures that are there.
    private(set) var shown: Int64 = 0
    /// Disclosures about other accounts, which are left out of an account's bundle.
    private(set) var leftOut: Int64 = 0

    init(_ head: BundleHead) {
        scope = head.scope
        isDisclosed = head.isDisclosed
    }

    /// Whether an event's disclosures belong into the bundle.
    func admits(_ recorded: RecordedEvent) -> Bool {
        guard case .account(let account) = scope else { return true }
        return recorded.accounts.first?.id == account
    }

    /// Takes an event of which so many disclosures are there.
    mutating func take(_ recorded: RecordedEvent, shown count: Int) {
        if case .accountErased(let fact) = recorded.event { erased.insert(fact.account) }
        shown += Int64(count)
        let absent = Int64(recorded.disclosureDigests.count - count)
        guard isDisclosed, absent > 0 else { return }
        guard admits(recorded) else {
            leftOut += absent
            return
        }
        let owner = recorded.accounts.first?.id
        let before = missing[owner] ?? (count: 0, first: recorded.position.value)
        missing[owner] = (count: before.count + absent, first: before.first)
    }

    /// Disclosures that were destroyed, as an `AccountErased` in the bundle says.
    var redacted: Int64 {
        missing.reduce(0) { sum, entry in sum + (isErased(entry.key) ? entry.value.count : 0) }
    }

    /// What nothing explains; nil when that is none.
    package var withheld: Withheld? {
        let unexplained = missing.filter { !isErased($0.key) }.values
        guard let first = unexplained.map(\.first).min() else { return nil }
        return Withheld(count: unexplained.reduce(0) { $0 + $1.count }, position: first)
    }

    private func isErased(_ account: AccountID?) -> Bool {
        account.map(erased.contains) ?? false
    }
}
