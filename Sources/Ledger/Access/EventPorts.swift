/// The filters of a read of a log.
package struct EventQuery: Hashable, Sendable {
    /// The order of the events.
    package var order = ReadingOrder.oldest
    /// The last position that was seen in this order; nil to start with the first.
    package var after: LogPosition?
    package var type: Event.Name?
    /// An account that the event touches, first or not.
    package var account: AccountID?
    package var provider: ProviderName?
    package var outcome: Event.Outcome?
    /// The account holder, principal or system that caused the event.
    package var actor: ActorFilter?
    /// An identity that the event names.
    package var identity: IdentityID?
    package var request: RequestID?
    /// The first event; a time means the first event not before it.
    package var from: Moment?
    /// The last event; a time means the last event not after it.
    package var through: Moment?
    /// The maximum number of events.
    package var limit: Int

    /// Selects everything.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Byte sequences that every matching entry contains.
    ///
    /// No string in an entry contains a quote, so these can only match where they belong.
    package var fragments: [String] {
        var fragments: [String] = []
        if let account { fragments.append("{\"id\":\"\(account)\",\"prev\":") }
        if let provider { fragments.append("\"provider\":\"\(provider)\"") }
        if let outcome { fragments.append("\"outcome\":\"\(outcome.rawValue)\"") }
        if let actor { fragments += actor.fragments }
        if let identity { fragments.append("\"identity\":\"\(identity)\"") }
        if let request { fragments.append(",\"request\":\"\(request)\",\"tenant\":") }
        if let type { fragments.append("\"type\":\"\(type.rawValue)\",\"v\":") }
        return fragments
    }
}

/// The actor of the events that a read selects, in any session and with any role.
package enum ActorFilter: Hashable, Sendable {
    case account(AccountID)
    case principal(Principal.Kind, EntityID<PrincipalKind>)
    case system

    /// The forms of an actor, in words.
    package static let form = "account:<id>, api_key:<id>, staff:<id> or system"
    /// The forms of an actor, as a regular expression.
    package static let pattern =
        "^(system|(account|api_key|staff):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$"

    /// Reads an actor in the format of the `actor` columns, without a session.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("system", 1): self = .system
        case ("account", 2):
            guard let account = AccountID(canonical: parts[1]) else { return nil }
            self = .account(account)
        case (let name?, 2):
            guard let kind = Principal.Kind(rawValue: name),
                let id = EntityID<PrincipalKind>(canonical: parts[1])
            else { return nil }
            self = .principal(kind, id)
        default: return nil
        }
    }

    /// Byte sequences that every entry of the actor contains.
    fileprivate var fragments: [String] {
        switch self {
        case .account(let account): Self.fragments(account, "account")
        case .principal(let kind, let id): Self.fragments(id, kind.rawValue)
        case .system: ["\"actor\":{\"type\":\"system\"}"]
        }
    }

    private static func fragments<Kind>(_ id: EntityID<Kind>, _ type: String) -> [String] {
        ["\"actor\":{\"id\":\"\(id)\"", "\"type\":\"\(type)\"},"]
    }
}

/// An event as auditors see it: its exact bytes, and their meaning.
package struct ShownEvent: Hashable, Sendable {
    /// The position of its row.
    package let position: LogPosition
    /// The exact bytes that are stored and hashed.
    package let entry: [UInt8]
    /// The decoded entry; nil when the bytes are not an entry, or belong to another position.
    package let recorded: RecordedEvent?
    /// The damage of the row or of its disclosures, or nil.
    package let damage: String?
    /// The personal data that has not been destroyed; nil when none was requested.
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
    /// Returns the next events after a position, in commit order or the reverse one.
    ///
    /// The work is bounded, so a page may hold few events or none and yet not be the last. Reading
    /// on after each page's cursor misses nothing, however many processes append. When the query
    /// names an account, nothing is disclosed about another account that an event touches first.
    func events(
        matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> CursorPage<ShownEvent>

    /// Returns the event with an id; nil when the tenant has none. An event that has the id only in
    /// its row is damaged.
    func event(
        _ id: EventID, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> ShownEvent?

    /// Returns the disclosures of an identity's last link; nil when the account was not the last to
    /// have it.
    func formerLink(
        of identity: IdentityID, to account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> FormerLink?
}

/// Notifies readers that a log may have grown.
package protocol LogWatch: Sendable {
    /// The current count of notifications.
    var count: UInt64 { get }

    /// Waits until a log may have grown since a count, the time has passed or the task is
    /// cancelled.
    ///
    /// Other processes' appends are not notified: readers also poll.
    func wait(since seen: UInt64, atMost limit: Duration) async
}
