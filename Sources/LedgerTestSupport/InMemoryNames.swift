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
        try given(in: tenant).first { $0.name == name }.map {
            NamedAccount(
                named: $0.held.account, survivor: $0.survivors.last ?? $0.held.account,
                position: $0.held.position)
        }
    }

    /// Returns ids of an account and of those merged into it.
    package func names(
        of account: AccountID, in sources: [NameSource], countMax: Int, of tenant: TenantID
    ) async throws(LedgerFault) -> [ExternalName] {
        let own = try given(in: tenant).filter {
            sources.contains($0.name.source)
                && ($0.survivors.last ?? $0.held.account) == account
        }
        return Array(
            own.sorted {
                ($0.survivors.count, $0.held.position) < ($1.survivors.count, $1.held.position)
            }.map(\.name).prefix(countMax))
    }

    private struct Given {
        let held: HeldName
        let name: ExternalName
        /// The accounts into which the holder was merged, one after the other.
        var survivors: [AccountID] = []
    }

    /// Returns the ids that accounts have.
    private func given(in tenant: TenantID) throws(LedgerFault) -> [Given] {
        var given: [Given] = []
        var survivors: [AccountID: AccountID] = [:]
        for recording in try ledger.read(tenant) {
            switch recording.recorded.event {
            case .accountNamed(let fact):
                guard let id = DisclosedValues(recording.disclosed).externalID,
                    let name = ExternalName(source: fact.source, id: id)
                else { continue }
                let held = HeldName(
                    position: recording.recorded.position, source: fact.source,
                    account: fact.account)
                given.append(Given(held: held, name: name))
            case .accountsMerged(let fact): survivors[fact.absorbed] = fact.survivor
            case .accountsUnmerged(let fact): survivors[fact.absorbed] = nil
            case .accountErased(let fact): given.removeAll { $0.held.account == fact.account }
            default: break
            }
        }
        for place in given.indices {
            var account = given[place].held.account
            while let next = survivors[account] {
                given[place].survivors.append(next)
                account = next
            }
        }
        return given
    }
}
