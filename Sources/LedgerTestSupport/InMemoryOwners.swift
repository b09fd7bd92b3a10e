package import Ledger

/// The holders of identities, from the whole log of an in-memory ledger.
package struct InMemoryOwners: OwnerReader {
    private let ledger: InMemoryLedger

    /// Reads this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Returns the accounts that held an identity; nil when none did.
    package func owners(
        of identity: IdentityID, in tenant: TenantID
    ) async throws(HistoryFault) -> IdentityHoldings? {
        let log: [Recording]
        do throws(LedgerFault) {
            log = try ledger.read(tenant)
        } catch {
            throw error == .internalFailure ? .damaged("") : .unavailable
        }
        var collection = HoldingCollection(of: identity)
        for recording in log {
            do throws(FoldFault) {
                try collection.apply(recording.recorded)
            } catch {
                throw .damaged(error.description)
            }
        }
        let holdings = collection.holdings
        guard !holdings.isEmpty else { return nil }
        let size = Int64(log.count)
        return IdentityHoldings(
            identity: identity, holdings: holdings, end: LogPosition(size), logSize: size)
    }
}
