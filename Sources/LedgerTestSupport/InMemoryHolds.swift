package import Ledger

/// The legal holds of an in-memory ledger, from its whole log, and its requests for erasures.
package struct InMemoryHolds: HoldReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the requests for the next accounts.
    package func erasureRequests(
        after account: AccountID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequestPage {
        let later = try ledger.erasureRequests(of: tenant)
            .filter { request in account.map { $0 < request.account } ?? true }
            .sorted { $0.account < $1.account }
        return ErasureRequestPage(
            requests: Array(later.prefix(limit)), hasMore: later.count > limit)
    }

    /// Returns the request for an account.
    package func erasureRequest(
        for account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequest? {
        try ledger.erasureRequests(of: tenant).first { $0.account == account }
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
