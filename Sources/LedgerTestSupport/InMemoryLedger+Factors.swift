package import Ledger

extension InMemoryLedger: FactorStore {
    /// Returns the factors of an account and its recovery codes.
    package func factors(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor] {
        guard let (state, secrets) = factors(of: tenant) else { return [] }
        return state.ledger.factors.values.filter { $0.holder == account }
            .sorted { $0.position < $1.position }
            .compactMap { factor in
                secrets[factor.id].map {
                    StoredFactor(
                        factor: factor, secret: $0.secret,
                        counter: state.factorCounters[factor.id] ?? 0)
                }
            }
    }
}
