/// An account as of a moment, found by its own id or that of an account merged into it.
package struct ResolvedAccount: Sendable {
    /// The requested id.
    package let requested: AccountID
    /// The survivor at that moment: the account itself, unless it was merged.
    package let found: AccountAsOf
}

extension HistoryReader {
    /// Returns the survivor of an account as of a moment, by default now; nil when it is not in the
    /// log.
    ///
    /// - Throws: `HistoryFault`; `.damaged` when the chain of merges leads to no account.
    package func resolvedAccount(
        _ account: AccountID, asOf moment: Moment?, in tenant: TenantID
    ) async throws(HistoryFault) -> ResolvedAccount? {
        guard var found = try await self.account(account, asOf: moment, in: tenant) else {
            return nil
        }
        for _ in 0..<MergeAccounts.familyMax {
            guard let survivor = found.account.mergedInto, let mark = found.asOf else {
                return ResolvedAccount(requested: account, found: found)
            }
            // All reads use one moment, whatever is appended meanwhile.
            let next = try await self.account(survivor, asOf: .position(mark.position), in: tenant)
            guard let next else { break }
            found = next
        }
        throw .damaged("the merges of account \(account) lead to no account")
    }
}
