package import Ledger

/// A row of `account_audit`: one event as seen by one of the accounts that it touches.
package struct AuditRow: Hashable, Sendable {
    package let account: AccountID
    package let sequence: Int64
    package let position: LogPosition
    package let event: EventID
    package let recordedAt: Timestamp
    package let type: String
    package let outcome: String
    package let reason: String?
    package let actor: String
    package let provider: String?
    package let identity: IdentityID?
    package let session: SessionID?
    package let request: RequestID?
    /// The client's address, only on the row of the account that caused the event, until that account is
    /// erased.
    package internal(set) var clientIP: String?
    package let providersBefore: [String]
    package let providersAfter: [String]

    /// Creates a row from its columns.
    package init(
        account: AccountID, sequence: Int64, position: LogPosition, event: EventID,
        recordedAt: Timestamp, type: String, outcome: String, reason: String?, actor: String,
        provider: String?, identity: IdentityID?, session: SessionID?, request: RequestID?,
        clientIP: String?, providersBefore: [String], providersAfter: [String]
    ) {
        self.account = account
        self.sequence = sequence
        self.position = position
        self.event = event
        self.recordedAt = recordedAt
        self.type = type
        self.outcome = outcome
        self.reason = reason
        self.actor = actor
        self.provider = provider
        self.identity = identity
        self.session = session
        self.request = request
        self.clientIP = clientIP
        self.providersBefore = providersBefore
        self.providersAfter = providersAfter
    }
}

extension AuditRow {
    /// Describes an event for one of its accounts.
    ///
    /// The address that the event discloses is left out for every account but the first.
    package init(
        _ recorded: RecordedEvent, for reference: AccountReference, clientIP: String?,
        before: [String], after: [String]
    ) {
        let fact = recorded.event.fact
        let attributes = fact.attributes
        account = reference.id
        sequence = reference.sequence
        position = recorded.position
        event = recorded.id
        recordedAt = recorded.recordedAt
        type = recorded.event.name.rawValue
        outcome = fact.outcome.rawValue
        reason = attributes.reason
        actor = recorded.actor.columnText
        provider = attributes.provider?.description
        identity = attributes.identity
        session = attributes.session
        request = recorded.request
        self.clientIP = reference.id == recorded.accounts.first?.id ? clientIP : nil
        providersBefore = before
        providersAfter = after
    }

    /// Returns the first column in which a stored row differs from this one, or nil when they are equal.
    package func differingColumn(from stored: AuditRow, comparingClientIP: Bool) -> String? {
        if sequence != stored.sequence { return "account_seq" }
        if position != stored.position { return "position" }
        if event != stored.event { return "event_id" }
        if recordedAt != stored.recordedAt { return "recorded_at" }
        if type != stored.type { return "type" }
        if outcome != stored.outcome { return "outcome" }
        if reason != stored.reason { return "reason" }
        if actor != stored.actor { return "actor" }
        if provider != stored.provider { return "provider" }
        if identity != stored.identity { return "identity_id" }
        if session != stored.session { return "session_id" }
        if request != stored.request { return "request_id" }
        if comparingClientIP, clientIP != stored.clientIP { return "client_ip" }
        if providersBefore != stored.providersBefore { return "providers_before" }
        if providersAfter != stored.providersAfter { return "providers_after" }
        return nil
    }
}

extension [AuditRow] {
    /// The accounts that events among these erased.
    package var erasedAccounts: [AccountID] {
        filter { $0.type == Event.Name.accountErased.rawValue }.map(\.account)
    }
}
