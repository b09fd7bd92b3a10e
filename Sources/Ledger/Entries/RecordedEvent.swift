/// Who asked for what an event states.
package enum Actor: Hashable, Sendable {
    /// The account holder, through a session.
    case account(AccountID, session: SessionID?)
    /// The ledger itself or the operator's command line.
    case system
    /// Somebody with an API key, in the role that the key had at that time.
    case apiKey(Principal)

    /// The actor in one word and, for an account or a key, its id: the form of the `actor` columns.
    package var columnText: String {
        switch self {
        case .account(let id, _): "account:\(id)"
        case .system: "system"
        case .apiKey(let principal): principal.description
        }
    }
}

/// One account's part in an event: its own gapless count of events, and what came before.
package struct AccountReference: Hashable, Sendable {
    package let id: AccountID
    /// The leaf hash of the account's previous event; nil for its first.
    package let previous: Digest?
    /// The event's place in the account's own history: 0, 1, 2 and so on.
    package let sequence: Int64

    /// Names an account's part in an event.
    package init(id: AccountID, previous: Digest?, sequence: Int64) {
        self.id = id
        self.previous = previous
        self.sequence = sequence
    }
}

/// An event with its place in the log: everything that its entry says.
package struct RecordedEvent: Hashable, Sendable {
    package let tenant: TenantID
    package let position: LogPosition
    package let id: EventID
    /// When it was appended; never earlier than the event before it.
    package let recordedAt: Timestamp
    package let actor: Actor
    package let command: CommandID
    /// The request that carried the command; nil for what no request asked for.
    package let request: RequestID?
    /// Every account the event touches, in the order of the fact.
    package let accounts: [AccountReference]
    /// The digests of the disclosures, sorted by their text (RFC 9901, section 4.2.4.1).
    package let disclosureDigests: [Digest]
    package let event: Event

    /// Collects what an entry says.
    package init(
        tenant: TenantID, position: LogPosition, id: EventID, recordedAt: Timestamp, actor: Actor,
        command: CommandID, request: RequestID?, accounts: [AccountReference],
        disclosureDigests: [Digest], event: Event
    ) {
        self.tenant = tenant
        self.position = position
        self.id = id
        self.recordedAt = recordedAt
        self.actor = actor
        self.command = command
        self.request = request
        self.accounts = accounts
        self.disclosureDigests = disclosureDigests
        self.event = event
    }
}
