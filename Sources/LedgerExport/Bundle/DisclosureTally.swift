internal import Ledger

/// Counts the disclosures of a bundle, and explains missing ones.
///
/// Each digest of an entry represents one disclosure about the event's first account. A missing one
/// is explained by an erasure of that account, or by the rule that an account's bundle holds
/// nothing about other accounts; otherwise it was withheld.
package struct DisclosureTally: Sendable {
    /// Missing disclosures that nothing in the bundle explains.
    package struct Withheld: Hashable, Sendable {
        package let count: Int64
        /// The position of the first one.
        package let position: Int64
    }

    private let scope: BundleHead.Scope
    private let isDisclosed: Bool
    /// The missing disclosures of each account, with the position of the first one.
    private var missing: [AccountID?: (count: Int64, first: Int64)] = [:]
    private var erased: Set<AccountID> = []
    /// The number of disclosures in the bundle.
    private(set) var shown: Int64 = 0
    /// The number of disclosures about other accounts, which an account's bundle omits.
    private(set) var leftOut: Int64 = 0

    init(_ head: BundleHead) {
        scope = head.scope
        isDisclosed = head.isDisclosed
    }

    /// Checks whether an event's disclosures belong in the bundle.
    func admits(_ recorded: RecordedEvent) -> Bool {
        guard case .account(let account) = scope else { return true }
        return recorded.accounts.first?.id == account
    }

    /// Counts an event with this many disclosures.
    mutating func take(_ recorded: RecordedEvent, shown count: Int) {
        if let account = recorded.event.erasedAccount { erased.insert(account) }
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

    /// The number of destroyed disclosures, as proved by an `AccountErased` in the bundle.
    var redacted: Int64 {
        missing.reduce(0) { sum, entry in sum + (isErased(entry.key) ? entry.value.count : 0) }
    }

    /// The withheld disclosures; nil if every disclosure is shown.
    package var withheld: Withheld? {
        let unexplained = missing.filter { !isErased($0.key) }.values
        guard let first = unexplained.map(\.first).min() else { return nil }
        return Withheld(count: unexplained.reduce(0) { $0 + $1.count }, position: first)
    }

    private func isErased(_ account: AccountID?) -> Bool {
        account.map(erased.contains) ?? false
    }
}
