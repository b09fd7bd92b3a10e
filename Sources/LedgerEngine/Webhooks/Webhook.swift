package import Ledger

/// An endpoint to which events of a tenant are sent, as operators see it.
package struct Webhook: Hashable, Sendable {
    /// Whether events are sent to an endpoint.
    package enum State: String, Sendable {
        case enabled
        case disabled
        /// The receiver answered 410.
        case gone
    }

    package let tenant: TenantID
    package let id: WebhookID
    package let url: String
    /// The stored names of the event types to send; empty for all.
    package let types: [String]
    package let createdAt: Timestamp
    package let state: State
    /// The first position that has not been processed.
    package let next: LogPosition
    /// The number of events that have not been processed.
    package let lag: Int64
    /// The number of pending events.
    package let pending: Int64
    /// The number of events that were given up.
    package let dead: Int64

    /// Creates the state of an endpoint.
    package init(
        tenant: TenantID, id: WebhookID, url: String, types: [String], createdAt: Timestamp,
        state: State, next: LogPosition, lag: Int64, pending: Int64, dead: Int64
    ) {
        self.tenant = tenant
        self.id = id
        self.url = url
        self.types = types
        self.createdAt = createdAt
        self.state = state
        self.next = next
        self.lag = lag
        self.pending = pending
        self.dead = dead
    }
}
