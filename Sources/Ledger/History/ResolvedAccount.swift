/// An account as of a moment, found by a name that may be that of an account which was merged into it.
package struct ResolvedAccount: Sendable {
    /// The name that was asked for.
    package let requested: AccountID
    /// The account that stands for it at that moment: itself, unless it was merged.
    package let found: AccountAsOf
}

extension HistoryReader {
    /// The account that stands for an account as of a moment, by default as of now; nil when the log does
    /// not know the account.
    ///
    /// - Throws: `HistoryFault`; `.damaged` when merges lead nowhere.
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
            // All of them at one moment, whatever is appended meanwhile.
            let next = try await self.account(survivor, asOf: .position(mark.position), in: tenant)
            guard let next else { break }
            found = next
        }
        throw .damaged("the merges of account \(account) lead to no account")
    }
}
