package import Ledger

/// The external ids of an in-memory ledger, from its whole log.
package struct InMemoryNames: NameReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the account that has an external id.
    package func account(
        named name: ExternalName, in tenant: TenantID
    ) async throws(LedgerFault) -> NamedAccount? {
        var found: NamedAccount?
        var survivors: [AccountID: AccountID] = [:]
        for recording in try ledger.read(tenant) {
            switch recording.recorded.event {
            case .accountNamed(let fact):
                guard fact.source == name.source,
                    DisclosedValues(recording.disclosed).externalID == name.id
                else { continue }
                found = NamedAccount(
                    named: fact.account, survivor: fact.account,
                    position: recording.recorded.position)
            case .accountsMerged(let fact): survivors[fact.absorbed] = fact.survivor
            case .accountsUnmerged(let fact): survivors[fact.absorbed] = nil
            case .accountErased(let fact) where fact.account == found?.named: found = nil
            default: break
            }
        }
        guard let found else { return nil }
        var survivor = found.named
        while let next = survivors[survivor] { survivor = next }
        return NamedAccount(named: found.named, survivor: survivor, position: found.position)
    }
}
