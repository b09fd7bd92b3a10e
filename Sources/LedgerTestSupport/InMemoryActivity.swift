package import Ledger

/// The activity of accounts, from the whole log of an in-memory ledger.
package struct InMemoryActivity: ActivityReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the last events of an account and of those merged into it, newest first.
    package func activity(
        of account: AccountID, before event: EventID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ActivityPage? {
        let log = try ledger.read(tenant)
        var survivors: [AccountID: AccountID] = [:]
        for recording in log {
            switch recording.recorded.event {
            case .accountsMerged(let fact): survivors[fact.absorbed] = fact.survivor
            case .accountsUnmerged(let fact): survivors[fact.absorbed] = nil
            default: break
            }
        }
        func survivor(of account: AccountID) -> AccountID {
            survivors[account].map(survivor(of:)) ?? account
        }
        var isPast = event == nil
        var found: [AccountActivity] = []
        for recording in log.reversed() {
            let recorded = recording.recorded
            let family = Set(recorded.accounts.map(\.id).filter { survivor(of: $0) == account })
            guard !family.isEmpty else { continue }
            if isPast {
                let address = recording.disclosed.first { $0.name == .clientIP }?.value
                let isOwn = recorded.accounts.first.map { family.contains($0.id) } ?? false
                let row = AccountActivity(
                    recorded, of: family, clientIP: isOwn ? address : nil)
                if let row { found.append(row) }
            }
            if recorded.id == event { isPast = true }
        }
        guard isPast else { return nil }
        return ActivityPage(rows: Array(found.prefix(limit)), hasMore: found.count > limit)
    }
}
