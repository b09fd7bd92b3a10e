package import Ledger

/// The legal holds of an in-memory ledger, from its whole log.
package struct InMemoryHolds: HoldReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the holds of the next accounts that have some.
    package func holds(
        after account: AccountID?, accounts limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> HoldPage {
        var holds: [AccountID: [HoldID]] = [:]
        for recording in try ledger.read(tenant) {
            switch recording.recorded.event {
            case .legalHoldSet(let fact): holds[fact.account, default: []].append(fact.hold)
            case .legalHoldLifted(let fact):
                holds[fact.account]?.removeAll { $0 == fact.hold }
                if holds[fact.account] == [] { holds[fact.account] = nil }
            default: break
            }
        }
        let accounts = holds.keys.sorted().filter { id in account.map { $0 < id } ?? true }
        return HoldPage(
            holds: accounts.prefix(limit).flatMap { id in
                (holds[id] ?? []).map { ActiveHold(account: id, hold: $0) }
            }, hasMore: accounts.count > limit)
    }
}
