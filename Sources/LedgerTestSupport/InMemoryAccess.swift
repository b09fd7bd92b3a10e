package import Ledger
internal import Synchronization

/// API keys and an access log without a database.
package final class InMemoryAccess: APIKeyDirectory, AccessLog {
    private struct Memory {
        var keys: [TenantID: [StoredAPIKey]] = [:]
        var accesses: [TenantID: [LoggedAccess]] = [:]
        var fault: LedgerFault?
    }

    private let memory = Mutex(Memory())
    private let now: @Sendable () -> Timestamp

    /// Makes an empty one.
    ///
    /// - Parameter now: the clock that lines are written by.
    package init(now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// Adds a key of a tenant, or replaces the one of that name.
    package func add(_ key: StoredAPIKey, to tenant: TenantID = .default) {
        memory.withLock { memory in
            memory.keys[tenant, default: []].removeAll { $0.id == key.id }
            memory.keys[tenant, default: []].append(key)
        }
    }

    /// Makes writing lines fail, or work again.
    package func failRecords(with fault: LedgerFault?) {
        memory.withLock { $0.fault = fault }
    }

    /// What was written down.
    package func accesses(of tenant: TenantID = .default) -> [LoggedAccess] {
        memory.withLock { $0.accesses[tenant] ?? [] }
    }

    /// The key of a name.
    package func key(
        _ id: APIKeyID, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredAPIKey? {
        memory.withLock { $0.keys[tenant]?.first { $0.id == id } }
    }

    /// Keeps one line.
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

    /// The lines after a position, whatever else is wanted of them.
    package func accesses(
        matching query: AccessQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> CursorPage<LoggedAccess> {
        let rest = accesses(of: tenant).filter { $0.position > query.after ?? -1 }
        let page = Array(rest.prefix(query.limit))
        return CursorPage(
            elements: page, cursor: page.last?.position ?? query.after,
            hasMore: rest.count > page.count)
    }
}
