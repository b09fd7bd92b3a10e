package import Ledger
package import Postgres

/// The refusal to change a tenant that is served elsewhere, or being moved: the change would be lost.
package struct TenantRefusal: Error, Hashable, CustomStringConvertible {
    /// The tenant.
    package let tenant: TenantID
    /// Its mark.
    package let move: TenantMove

    /// Creates the refusal.
    package init(tenant: TenantID, move: TenantMove) {
        self.tenant = tenant
        self.move = move
    }

    package var description: String {
        "nothing was changed: tenant \(tenant) \(move.description)"
    }
}

extension TenantMove {
    /// Refuses a tenant that is not served here; to be called first in the transaction of a write.
    ///
    /// A copy waits for each transaction that began before the mark.
    ///
    /// - Throws: ``TenantRefusal``, or `PostgresError`.
    package static func refuse(_ tenant: TenantID, on connection: Connection) throws {
        guard let move = try of(tenant, on: connection) else { return }
        throw TenantRefusal(tenant: tenant, move: move)
    }
}
