/// Which conflicts are wanted.
package struct ConflictQuery: Hashable, Sendable {
    /// The position of the last attempt that was seen last; nil from the beginning.
    package var after: LogPosition?
    package var state: Conflict.State?
    /// An account that is, or stands for, the caller or the holder.
    package var account: AccountID?
    /// How many at the most.
    package var limit: Int

    /// Wants all of them.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether a conflict is wanted, wherever the page begins.
    package func wants(_ conflict: Conflict) -> Bool {
        guard state.map({ $0 == conflict.state }) ?? true else { return false }
        guard let account else { return true }
        return conflict.callers.contains(account) || conflict.holder == account
            || conflict.holderNow == account
    }
}

/// Some conflicts, as of a position.
package struct ConflictPage: Sendable {
    /// In the order of their last attempts.
    package let page: CursorPage<Conflict>
    /// How many events of the log have been folded into them.
    package let foldedSize: Int64
    /// How many events the log has.
    package let logSize: Int64

    /// Collects a page.
    package init(page: CursorPage<Conflict>, foldedSize: Int64, logSize: Int64) {
        self.page = page
        self.foldedSize = foldedSize
        self.logSize = logSize
    }
}

/// Reads of the `conflicts` read model.
package protocol ConflictReader: Sendable {
    /// The next conflicts, in the order of their last attempts.
    ///
    /// The work is bounded, so that a page may hold few or none and yet not be the last. A further attempt
    /// moves a conflict behind every other, so who goes on after each page's cursor misses none that an
    /// attempt has changed.
    func conflicts(
        matching query: ConflictQuery, in tenant: TenantID
    ) async throws(LedgerFault) -> ConflictPage
}
