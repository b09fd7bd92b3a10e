/// The actor that caused an event.
package enum Actor: Hashable, Sendable {
    /// The account holder, through a session.
    case account(AccountID, session: SessionID?)
    /// The ledger itself, or the operator's command line.
    case system
    /// An API key or a person of the staff, in the role of that time.
    case principal(Principal)

    /// The actor's type and its id, if it has one: the format of the `actor` columns.
    package var columnText: String {
        switch self {
        case .account(let id, _): "account:\(id)"
        case .system: "system"
        case .principal(let principal): principal.description
        }
    }
}

/// One account's part in an event: its own gapless sequence number, and its previous event.
package struct AccountReference: Hashable, Sendable {
    package let id: AccountID
    /// The leaf hash of the account's previous event; nil for its first.
    package let previous: Digest?
    /// The index of the event in the account's own history: 0, 1, 2 and so on.
    package let sequence: Int64

    /// Creates a reference.
    package init(id: AccountID, previous: Digest?, sequence: Int64) {
        self.id = id
        self.previous = previous
        self.sequence = sequence
    }
}

/// An event at its position in the log, with all fields of its entry.
package struct RecordedEvent: Hashable, Sendable {
    package let tenant: TenantID
    package let position: LogPosition
    package let id: EventID
    /// When it was appended; never earlier than the event before it.
    package let recordedAt: Timestamp
    package let actor: Actor
    package let command: CommandID
    /// The request of the command; nil when no request caused it.
    package let request: RequestID?
    /// Every account that the event touches, in the order of the fact.
    package let accounts: [AccountReference]
    /// The digests of the disclosures, sorted as text (RFC 9901, section 4.2.4.1).
    package let disclosureDigests: [Digest]
    package let event: Event

    /// Collects the fields of an entry.
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
