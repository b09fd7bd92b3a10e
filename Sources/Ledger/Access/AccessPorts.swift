/// The API keys of the tenants, looked up at each use, so that a revoked key is refused at once.
package protocol APIKeyDirectory: Sendable {
    /// Returns the key with an id, valid or not; nil when the tenant has none.
    func key(_ id: APIKeyID, in tenant: TenantID) async throws(LedgerFault) -> StoredAPIKey?
}

/// The record of accesses to the ledger.
package protocol AccessLog: Sendable {
    /// Records an access before anything is shown; durable when it returns.
    func record(_ access: AccessRecord, in tenant: TenantID) async throws(LedgerFault)

    /// Returns the next records after a position, in the order of the query; the work is bounded, so a page may hold few or
    /// none and yet not be the last.
    func accesses(
        matching query: AccessQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> CursorPage<LoggedAccess>

    /// Returns the reason for which a legal hold was set; nil unless a record shortly before the
    /// event states it.
    func reason(
        of hold: PlacedHold, on account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> String?
}

/// The filters of a read of the access log.
package struct AccessQuery: Hashable, Sendable {
    /// The order of the records.
    package var order = ReadingOrder.oldest
    /// The last position that was seen in this order; nil to start with the first.
    package var after: Int64?
    /// The first record; a time means the first record not before it.
    package var from: Moment?
    /// The last record; a time means the last record not after it.
    package var through: Moment?
    /// `api_key:<id>`, `staff:<id>` or `operator`.
    package var principal: String?
    /// The maximum number of records.
    package var limit: Int

    /// Selects everything.
    package init(limit: Int) {
        self.limit = limit
    }
}

/// A page of an append-only sequence that is read in order.
package struct CursorPage<Element: Sendable>: Sendable {
    package var elements: [Element]
    /// The last position that was scanned, whether it is on the page or not: the next page starts
    /// after it.
    package var cursor: Int64?
    /// Whether more elements followed the cursor at that time.
    package var hasMore: Bool

    /// Collects the elements found up to a position.
    package init(elements: [Element], cursor: Int64?, hasMore: Bool) {
        self.elements = elements
        self.cursor = cursor
        self.hasMore = hasMore
    }
}
