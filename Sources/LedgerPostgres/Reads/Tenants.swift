package import Ledger
import Postgres

/// The tenants with a head row, cached once they are found.
package actor Tenants: TenantDirectory {
    /// The time for which the absence of a tenant is cached.
    private static let absenceLasts = Duration.seconds(1)
    /// The maximum number of absent tenants in the cache.
    private static let absentMax = 1024

    private static let one = Statement(
        "tenant_exists", "SELECT 1 FROM ledger_head WHERE tenant_id = $1::text")

    private let session: Postgres.Session
    private var known: Set<TenantID>
    private var absent: [TenantID: ContinuousClock.Instant] = [:]

    /// Creates a directory.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - known: Tenants that are known to exist.
    package init(url: String, known: Set<TenantID> = []) {
        self.known = known
        session = Postgres.Session(
            url: url, applicationName: "account-ledger tenants", statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    package func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        if known.contains(tenant) { return true }
        let now = ContinuousClock.now
        if let seen = absent[tenant], now - seen < Self.absenceLasts { return false }
        let exists: Bool
        do {
            exists = try await session.run { connection in
                try connection.query(Self.one, [.text(tenant.description)]).rowCount == 1
            }
        } catch {
            throw .unavailable
        }
        if exists {
            known.insert(tenant)
            absent[tenant] = nil
        } else {
            if absent.count >= Self.absentMax { absent.removeAll() }
            absent[tenant] = now
        }
        return exists
    }

    /// Returns all tenants with the number of events in their logs, ordered by name.
    ///
    /// - Throws: `PostgresError`.
    package func list() async throws -> [(tenant: TenantID, events: Int64)] {
        try await session.run { connection in
            try AllTenants.heads(on: connection).map { (tenant: $0.tenant, events: $0.next.value) }
        }
    }
}
