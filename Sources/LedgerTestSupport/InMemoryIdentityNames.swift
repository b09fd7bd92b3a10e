package import Ledger
internal import Synchronization

/// The names of passkeys, in memory.
package final class InMemoryIdentityNames: IdentityNames {
    private struct Key: Hashable {
        let tenant: TenantID
        let identity: IdentityID
    }

    private let ledger: InMemoryLedger
    private let names = Mutex<[Key: IdentityName]>([:])

    /// Names the identities of this ledger.
    package init(_ ledger: InMemoryLedger) {
        self.ledger = ledger
    }

    /// Names an identity, in place of its former name.
    package func give(
        _ name: IdentityName, to identity: IdentityID, of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        guard try ledger.holder(of: identity, in: tenant) == account else { return false }
        names.withLock { $0[Key(tenant: tenant, identity: identity)] = name }
        return true
    }

    /// Returns the names of those identities that have one, and an account.
    package func names(
        of identities: [IdentityID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: IdentityName] {
        var found: [IdentityID: IdentityName] = [:]
        for identity in identities where try ledger.holder(of: identity, in: tenant) != nil {
            found[identity] = names.withLock { $0[Key(tenant: tenant, identity: identity)] }
        }
        return found
    }
}
