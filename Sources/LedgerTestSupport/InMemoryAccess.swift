package import Ledger
internal import Synchronization

/// In-memory API keys and an access log.
package final class InMemoryAccess: APIKeyDirectory, AccessLog {
    private struct Memory {
        var keys: [TenantID: [StoredAPIKey]] = [:]
        var accesses: [TenantID: [LoggedAccess]] = [:]
        var fault: LedgerFault?
    }

    private let memory = Mutex(Memory())
    private let now: @Sendable () -> Timestamp

    /// Creates an empty one.
    ///
    /// - Parameter now: the clock for the lines.
    package init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// Adds a key of a tenant, or replaces the one with the same id.
    package func add(_ key: StoredAPIKey, to tenant: TenantID = .default) {
        memory.withLock { memory in
            memory.keys[tenant, default: []].removeAll { $0.id == key.id }
            memory.keys[tenant, default: []].append(key)
        }
    }

    /// Makes writing lines fail or work again.
    package func failRecords(with fault: LedgerFault?) {
        memory.withLock { $0.fault = fault }
    }

    /// Returns the recorded lines.
    package func accesses(of tenant: TenantID = .default) -> [LoggedAccess] {
        memory.withLock { $0.accesses[tenant] ?? [] }
    }

    /// Returns the key with an id.
    package func key(
        _ id: APIKeyID, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredAPIKey? {
        memory.withLock { $0.keys[tenant]?.first { $0.id == id } }
    }

    /// Records a line.
    package func record(_ access: AccessRecord, in tenant: TenantID) async throws(LedgerFault) {
        let now = now()
        let fault = memory.withLock { memory in
            if let fault = memory.fault { return LedgerFault?.some(fault) }
            let lines = memory.accesses[tenant] ?? []
            memory.accesses[tenant, default: []].append(
                LoggedAccess(
                    position: Int64(lines.count), at: now, principal: access.principalText,
                    role: access.roleText, action: access.action.rawValue,
                    account: access.account, event: access.event, details: access.detailsText,
                    isDisclosed: access.isDisclosed, reason: access.reason,
                    outcome: access.outcome.rawValue, request: access.request))
            return nil
        }
        if let fault { throw fault }
    }

    /// Returns the reason in the line of a hold.
    package func reason(
        of hold: PlacedHold, on account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> String? {
        accesses(of: tenant).last {
            $0.action == AccessAction.setLegalHold.rawValue && $0.account == account
                && $0.details.contains("\(hold.hold)")
        }?.reason
    }

    /// Returns the lines after a position; other filters are ignored.
    package func accesses(
        matching query: AccessQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> CursorPage<LoggedAccess> {
        let all = accesses(of: tenant)
        let rest = (query.order == .oldest ? all : all.reversed()).filter { line in
            query.after.map { query.order.isAfter(line.position, $0) } ?? true
        }
        let page = Array(rest.prefix(query.limit))
        return CursorPage(
            elements: page, cursor: page.last?.position ?? query.after,
            hasMore: rest.count > page.count)
    }
}
