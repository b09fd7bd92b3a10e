package import Ledger
package import StandardWebhooks

/// A dispatcher's endpoints, their pending events and the log: in Postgres, or in memory in a simulation.
///
/// Every write is a transaction of its own that requires the endpoint's lease. Any error but a
/// `DispatcherFault` means that the store cannot be reached, and that the outcome of a write is unknown.
package protocol DispatcherStore: Sendable {
    /// Leases every enabled endpoint whose lease is free.
    func takeLeases() async throws -> [LeasedWebhook]

    /// Reads the complete state of an endpoint.
    ///
    /// Throws `DispatcherFault` when it is not leased, or its secrets cannot be read.
    func load(_ endpoint: LeasedWebhook) async throws -> LoadedWebhook

    /// Reads a page of the log, with nil for each event to skip, and then the state of the endpoint.
    ///
    /// In this order an operator's change before an event was appended is seen with that event.
    func poll(
        at endpoint: LeasedWebhook, from: LogPosition, limit: Int, types: [String]
    ) async throws -> LogPoll

    /// Reads the events at some positions, and the traces of their requests.
    func events(
        of tenant: TenantID, at positions: [LogPosition]
    ) async throws -> [LogPosition: TracedEvent]

    /// Writes changes and renews the lease: all or nothing.
    ///
    /// Throws `DispatcherFault.notHeld` when the lease was lost, or the cursor is at another position.
    func write(_ changes: DeliveryChanges, of endpoint: LeasedWebhook) async throws

    /// Releases an endpoint, so that another dispatcher can lease it at once.
    func release(_ endpoint: LeasedWebhook) async

    /// Returns the state of every endpoint of every tenant, without waiting for the other calls.
    func status() async throws -> [Webhook]

    /// Releases the store's resources; it is not used again.
    func close() async
}

/// An endpoint that a dispatcher has leased.
package struct LeasedWebhook: Hashable, Sendable {
    package let tenant: TenantID
    package let id: WebhookID
    /// The token of the lease, new each time the endpoint is leased; every write requires it.
    package let lease: EntityID<WebhookLease>

    /// Creates the lease of an endpoint.
    package init(tenant: TenantID, id: WebhookID, lease: EntityID<WebhookLease>) {
        self.tenant = tenant
        self.id = id
        self.lease = lease
    }
}

/// The stored state of an endpoint.
package struct EndpointState: Hashable, Sendable {
    /// Whether the lease of the request is still valid.
    package let isHeld: Bool
    package let isEnabled: Bool
    package let revision: Int64
    package let next: LogPosition
    package let url: String
    package let types: [String]

    /// Creates the state of an endpoint.
    package init(
        isHeld: Bool, isEnabled: Bool, revision: Int64, next: LogPosition, url: String,
        types: [String]
    ) {
        self.isHeld = isHeld
        self.isEnabled = isEnabled
        self.revision = revision
        self.next = next
        self.url = url
        self.types = types
    }
}

/// A secret that signs until it ends.
package struct HeldSecret: Sendable {
    package let secret: WebhookSecret
    package let endsAt: Timestamp?

    /// Creates a secret; `endsAt` is nil for one that does not end.
    package init(secret: WebhookSecret, endsAt: Timestamp?) {
        self.secret = secret
        self.endsAt = endsAt
    }
}

/// The data with which a dispatcher starts on an endpoint.
package struct LoadedWebhook: Sendable {
    package let endpointState: EndpointState
    package let secrets: [HeldSecret]
    package let items: [DeliveryQueue.Item]

    /// Combines the stored state of an endpoint.
    package init(
        endpointState: EndpointState, secrets: [HeldSecret], items: [DeliveryQueue.Item]
    ) {
        self.endpointState = endpointState
        self.secrets = secrets
        self.items = items
    }
}

/// The result of a poll for new events.
package struct LogPoll: Sendable {
    /// The state of the endpoint; nil when it was removed.
    package let endpointState: EndpointState?
    /// The next events; nil for each one that is skipped.
    package let page: [Result<StoredEvent, LogDamage>?]
    /// Whether the next event is missing although later ones exist.
    package let isGap: Bool

    /// Creates the result of a poll.
    package init(
        endpointState: EndpointState?, page: [Result<StoredEvent, LogDamage>?], isGap: Bool
    ) {
        self.endpointState = endpointState
        self.page = page
        self.isGap = isGap
    }
}

/// An event with the trace of its request.
package struct TracedEvent: Sendable {
    package let event: Result<StoredEvent, LogDamage>
    /// The `traceparent` of the request's span; nil without one, and some days later.
    package let trace: String?

    /// Pairs an event with its trace.
    package init(_ event: Result<StoredEvent, LogDamage>, trace: String? = nil) {
        self.event = event
        self.trace = trace
    }
}

/// The changes of one transaction for an endpoint.
package struct DeliveryChanges: Sendable {
    /// An attempt that did not end in a delivery.
    package struct FailedAttempt: Sendable {
        package let item: DeliveryQueue.Item
        package let isDead: Bool
        package let attemptedAt: Timestamp
        package let status: Int?
        package let fault: String?
    }

    package var delivered: [LogPosition] = []
    package var failedAttempts: [FailedAttempt] = []
    package var added: [DeliveryQueue.Item] = []
    package var moved: (from: LogPosition, to: LogPosition)?
    package var isGone = false

    /// Creates no changes.
    package init() {}

    package var isEmpty: Bool {
        delivered.isEmpty && failedAttempts.isEmpty && added.isEmpty && moved == nil && !isGone
    }
}

/// Why a dispatcher releases an endpoint.
package enum DispatcherFault: Error, CustomStringConvertible {
    /// Another dispatcher holds the lease, or the endpoint was removed.
    case notHeld
    /// The present keys decrypt none of its secrets.
    case secretUnreadable

    package var description: String {
        switch self {
        case .notHeld: "another dispatcher holds its lease"
        case .secretUnreadable: "no key of the directory decrypts its secret"
        }
    }
}
