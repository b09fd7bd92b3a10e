package import Ledger

/// The kind of a ``WebhookID``.
package enum WebhookKind {}
/// The kind of a ``WebhookSecretID``.
package enum WebhookSecretKind {}
/// The kind of the token that a dispatcher holds an endpoint with.
enum WebhookLease {}

/// The name of an endpoint that events are sent to.
package typealias WebhookID = EntityID<WebhookKind>
/// The name of one of an endpoint's secrets.
package typealias WebhookSecretID = EntityID<WebhookSecretKind>

/// An endpoint that events of a tenant are sent to, as operators see it.
package struct Webhook: Hashable, Sendable {
    /// Whether events are sent to it.
    package enum State: String, Sendable {
        case enabled
        case disabled
        /// The receiver answered 410.
        case gone
    }

    package let tenant: TenantID
    package let id: WebhookID
    package let url: String
    /// Stored names; empty for all.
    package let types: [String]
    package let createdAt: Timestamp
    package let state: State
    /// The first position that was not looked at.
    package let next: LogPosition
    /// Events that were not looked at.
    package let lag: Int64
    /// Events that are on their way.
    package let pending: Int64
    /// Events that were given up.
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
