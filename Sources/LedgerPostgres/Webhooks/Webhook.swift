package import Ledger

/// The kind of a ``WebhookID``.
package enum WebhookKind {}
/// The kind of a ``WebhookSecretID``.
package enum WebhookSecretKind {}
/// The kind of the token of a dispatcher's lease.
enum WebhookLease {}

/// The identifier of an endpoint.
package typealias WebhookID = EntityID<WebhookKind>
/// The identifier of one of an endpoint's secrets.
package typealias WebhookSecretID = EntityID<WebhookSecretKind>

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
}

/// An event that was given up for an endpoint.
package struct DeadLetter: Hashable, Sendable {
    package let position: LogPosition
    package let event: EventID
    package let type: String
    package let accounts: [AccountID]
    package let attempts: Int
    package let attemptedAt: Timestamp?
    /// The status of the last answer, or why there was none.
    package let reason: String
}
