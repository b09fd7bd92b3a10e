package import Ledger

/// The kind of a ``WebhookID``.
package enum WebhookKind {}
/// The kind of a ``WebhookSecretID``.
package enum WebhookSecretKind {}
/// The kind of the token of a dispatcher's lease.
package enum WebhookLease {}

/// The identifier of an endpoint.
package typealias WebhookID = EntityID<WebhookKind>
/// The identifier of one of an endpoint's secrets.
package typealias WebhookSecretID = EntityID<WebhookSecretKind>
