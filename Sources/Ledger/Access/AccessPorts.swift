/// The API keys of the tenants, asked at each use, so that a revoked one is refused at once.
package protocol APIKeyDirectory: Sendable {
    /// The key of a name, good or not; nil when the tenant has none.
    func key(_ id: APIKeyID, in tenant: TenantID) async throws(LedgerFault) -> StoredAPIKey?
}

/// Who looked at what.
package protocol AccessLog: Sendable {
    /// Writes down what is about to be shown; durable when it comes back.
    func record(_ access: AccessRecord, in tenant: TenantID) async throws(LedgerFault)

    /// The next lines after a position; the work is bounded, so that a page may hold few or none and
    /// yet not be the last.
    func accesses(
        matching query: AccessQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> CursorPage<LoggedAccess>
}

/// Which lines of the access log are wanted.
package struct AccessQuery: Hashable, Sendable {
    /// The last position that was seen; nil from the beginning.
    package var after: Int64?
    /// The first wanted; a time means the first line not before it.
    package var from: Moment?
    /// The last wanted; a time means the last line not after it.
    package var through: Moment?
    /// `api_key:<id>` or `operator`.
    package var principal: String?
    /// How many lines at the most.
    package var limit: Int

    /// Wants everything.
    package init(limit: Int) {
        self.limit = limit
    }
}

/// A part of something that grows at its end and is read in order.
package struct CursorPage<Element: Sendable>: Sendable {
    package var elements: [Element]
    /// The last position that was looked at, whether it is on the page or not: where to go on after.
    package var cursor: Int64?
    /// Whether there was more behind the cursor at that time.
    package var hasMore: Bool

    /// Collects what was found up to a position.
    package init(elements: [Element], cursor: Int64?, hasMore: Bool) {
        self.elements = elements
        self.cursor = cursor
        self.hasMore = hasMore
    }
}
