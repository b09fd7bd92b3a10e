package import Ledger
import Postgres
import Synchronization

/// The tenants with a head row, cached once they are found, without those that are being moved.
package final class Tenants: TenantDirectory {
    /// The age from which the moved tenants are read again.
    private static let noticeAfter = Duration.seconds(1)
    /// The time for which the absence of a tenant is cached.
    private static let absenceLasts = Duration.seconds(1)
    /// The maximum number of absent tenants in the cache.
    private static let absentMax = 1024

    private static let one = Statement(
        "tenant_exists", "SELECT 1 FROM ledger_head WHERE tenant_id = $1::text")

    private struct Known {
        var present: Set<TenantID>
        var absent: [TenantID: ContinuousClock.Instant] = [:]
        /// The tenants that are not served here, and the beginning of the query that found them.
        var moved: Set<TenantID> = []
        var readAt: ContinuousClock.Instant?
        /// The query that is under way; false if it fails.
        var reading: Task<Bool, Never>?
    }

    private let session: Postgres.Session
    private let known: Mutex<Known>

    /// Creates a directory.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - known: Tenants that are known to exist.
    package init(url: String, known: Set<TenantID> = []) {
        self.known = Mutex(Known(present: known))
        session = Postgres.Session(
            url: url, applicationName: "account-ledger tenants", statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    package func contains(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        try await refuseMoved(tenant)
        return try await exists(tenant)
    }

    /// Whether a tenant has been created; cached for as long as the process runs.
    package func exists(_ tenant: TenantID) async throws(LedgerFault) -> Bool {
        let now = ContinuousClock.now
        let cached: Bool? = known.withLock { known in
            if known.present.contains(tenant) { return true }
            if let seen = known.absent[tenant], now - seen < Self.absenceLasts { return false }
            return nil
        }
        if let cached { return cached }
        let exists: Bool
        do {
            exists = try await session.run { connection in
                try connection.query(Self.one, [.text(tenant.description)]).rowCount == 1
            }
        } catch {
            throw .unavailable
        }
        known.withLock { known in
            if exists {
                known.present.insert(tenant)
                known.absent[tenant] = nil
            } else {
                if known.absent.count >= Self.absentMax { known.absent.removeAll() }
                known.absent[tenant] = now
            }
        }
        return exists
    }

    /// Reads which tenants are moved, at most once a second, and refuses one of them.
    ///
    /// - Throws: `LedgerFault.tenantMoved`; `.unavailable` if it is not known for the last ``TenantMove/noticeMax``.
    private func refuseMoved(_ tenant: TenantID) async throws(LedgerFault) {
        let now = ContinuousClock.now
        let seen = known.withLock { known -> (wait: Task<Bool, Never>?, isMoved: Bool) in
            let age = known.readAt.map { now - $0 }
            let isMoved = known.moved.contains(tenant)
            if let age, age < Self.noticeAfter { return (nil, isMoved) }
            let reading = known.reading ?? Task { await self.readMoves() }
            known.reading = reading
            let isKnown = age.map { $0 < TenantMove.noticeMax } ?? false
            return (isKnown ? nil : reading, isMoved)
        }
        var isMoved = seen.isMoved
        if let wait = seen.wait {
            guard await wait.value else { throw .unavailable }
            isMoved = known.withLock { $0.moved.contains(tenant) }
        }
        guard !isMoved else { throw .tenantMoved }
    }

    private func readMoves() async -> Bool {
        let start = ContinuousClock.now
        let moved = try? await session.run { Set(try TenantMove.all(on: $0).keys) }
        known.withLock { known in
            known.reading = nil
            guard let moved else { return }
            known.moved = moved
            known.readAt = start
        }
        return moved != nil
    }

    /// Returns all tenants with the number of events in their logs, ordered by name.
    ///
    /// - Throws: `PostgresError`.
    package func list() async throws -> [(tenant: TenantID, events: Int64)] {
        try await session.run { connection in
            try AllTenants.heads(on: connection).map { (tenant: $0.tenant, events: $0.next.value) }
        }
    }

    /// Returns where the tenants are that are moved, or being moved.
    ///
    /// - Throws: `PostgresError`.
    package func moves() async throws -> [TenantID: TenantMove] {
        try await session.run { try TenantMove.all(on: $0) }
    }
}
