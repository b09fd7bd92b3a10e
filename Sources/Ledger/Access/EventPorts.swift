/// Which events of a log are wanted.
package struct EventQuery: Hashable, Sendable {
    /// The last position that was seen; nil from the beginning.
    package var after: LogPosition?
    package var type: Event.Name?
    /// An account that the event touches, as its first or as another one.
    package var account: AccountID?
    package var provider: ProviderName?
    package var outcome: Event.Outcome?
    /// The first wanted; a time means the first event not before it.
    package var from: Moment?
    /// The last wanted; a time means the last event not after it.
    package var through: Moment?
    /// How many events at the most.
    package var limit: Int

    /// Wants everything.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Pieces of an entry's bytes that every wanted entry has.
    ///
    /// No text of an entry holds a quote, so a piece can only stand where it belongs.
    package var pieces: [String] {
        var pieces: [String] = []
        if let account { pieces.append("{\"id\":\"\(account)\",\"prev\":") }
        if let provider { pieces.append("\"provider\":\"\(provider)\"") }
        if let outcome { pieces.append("\"outcome\":\"\(outcome.rawValue)\"") }
        if let type { pieces.append("\"type\":\"\(type.rawValue)\",\"v\":") }
        return pieces
    }
}

/// An event as auditors see it: the exact bytes, and what they say.
package struct ShownEvent: Hashable, Sendable {
    /// The position of its row.
    package let position: LogPosition
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]
    /// What the bytes say; nil when they are no entry, or that of another place.
    package let recorded: RecordedEvent?
    /// What is wrong with the row or with what it discloses; nil when nothing is.
    package let damage: String?
    /// The personal data that has not been destroyed; nil when none was asked for.
    package let disclosures: [Disclosure]?

    /// Describes an event.
    package init(
        position: LogPosition, entry: [UInt8], recorded: RecordedEvent?, damage: String?,
        disclosures: [Disclosure]?
    ) {
        self.position = position
        self.entry = entry
        self.recorded = recorded
        self.damage = damage
        self.disclosures = disclosures
    }
}

/// Reads of the log itself.
package protocol EventReader: Sendable {
    /// The next events after a position, in commit order.
    ///
    /// The work is bounded, so that a page may hold few events or none and yet not be the last. Who goes
    /// on after each page's cursor misses nothing, however many processes append. Where one account is
    /// wanted, nothing is disclosed about another one that an event touches first.
    func events(
        matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> CursorPage<ShownEvent>

    /// The event with an id; nil when the tenant has none. One that only its row calls so is damaged.
    func event(
        _ id: EventID, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> ShownEvent?
}

/// Tells when a log may have grown.
package protocol LogWatch: Sendable {
    /// What has been seen until now.
    var count: UInt64 { get }

    /// Waits until a log may have more than was seen, the time has passed or the task is cancelled.
    ///
    /// What another process appends is not told: who waits looks again after a while.
    func wait(since seen: UInt64, atMost limit: Duration) async
}
