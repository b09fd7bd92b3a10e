/// The filters of a read of conflicts.
package struct ConflictQuery: Hashable, Sendable {
    /// The order of the conflicts.
    package var order = ReadingOrder.oldest
    /// The position of the last attempt of the last conflict that was seen in this order; nil to
    /// start with the first.
    package var after: LogPosition?
    package var state: Conflict.State?
    /// An account that is the caller or the holder, or absorbed one of them.
    package var account: AccountID?
    /// The maximum number of conflicts.
    package var limit: Int

    /// Selects all of them.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Checks whether a conflict matches the filters, regardless of the cursor.
    package func wants(_ conflict: Conflict) -> Bool {
        guard state.map({ $0 == conflict.state }) ?? true else { return false }
        guard let account else { return true }
        return conflict.callers.contains(account) || conflict.holder == account
            || conflict.holderNow == account
    }
}

/// A page of conflicts, as of a position.
package struct ConflictPage: Sendable {
    /// In the order of their last attempts, or in the reverse one.
    package let page: CursorPage<Conflict>
    /// The notes on them, by the positions of their first attempts.
    package let reviews: [LogPosition: ConflictReview]
    package let extent: ConflictExtent

    /// Collects a page.
    package init(
        page: CursorPage<Conflict>, reviews: [LogPosition: ConflictReview] = [:],
        extent: ConflictExtent
    ) {
        self.page = page
        self.reviews = reviews
        self.extent = extent
    }

    /// The number of events of the log that the conflicts include.
    package var foldedSize: Int64 { extent.foldedSize }
    /// The number of events of the log.
    package var logSize: Int64 { extent.logSize }
}

/// Reads of the `conflicts` read model.
package protocol ConflictReader: Sendable {
    /// Returns the next conflicts, in the order of their last attempts or in the reverse one.
    ///
    /// The work is bounded, so a page may hold few or none and yet not be the last. A further
    /// attempt moves a conflict behind every other, so reading on after each page's cursor misses
    /// no conflict with a new attempt; newest first, it is then before the first page.
    func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage

    /// Returns the conflict that begins with an event; nil if no conflict does.
    func conflict(
        of first: EventID, in tenant: TenantID
    ) async throws(LedgerFault) -> (found: ReviewedConflict, extent: ConflictExtent)?

    /// Counts the conflicts with the last attempts; the work is bounded.
    func counts(in tenant: TenantID) async throws(LedgerFault) -> ConflictCounts

    /// Sets the note on a conflict, which replaces an earlier one; nil deletes it.
    func review(
        _ first: EventID, _ review: ConflictReview?, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<Void, ReviewRefusal>
}
