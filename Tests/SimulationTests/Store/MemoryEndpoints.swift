import Ledger
import Synchronization

@testable import LedgerEngine

/// The stored state of the simulated dispatchers, one endpoint for each tenant, and what its receiver accepted.
final class MemoryEndpoints: Sendable {
    static let leaseMicroseconds: Int64 = 5_000_000

    /// The state of one tenant's endpoint.
    struct Endpoint: Sendable {
        var lease: EntityID<WebhookLease>?
        var expiresAt = Timestamp(microseconds: 0)
        var next = LogPosition(0)
        var pending: [LogPosition: DeliveryQueue.Item] = [:]
    }

    private struct State {
        var endpoints: [TenantID: Endpoint] = [:]
        var accepted: [TenantID: [String]] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock(\.isClosed) }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func endpoint(_ tenant: TenantID) -> Endpoint {
        state.withLock { $0.endpoints[tenant] } ?? Endpoint()
    }

    func change<Value: Sendable>(
        _ tenant: TenantID, _ body: (inout Endpoint) throws(DispatcherFault) -> Value
    ) throws(DispatcherFault) -> Value {
        try state.withLock { state throws(DispatcherFault) in
            try body(&state.endpoints[tenant, default: Endpoint()])
        }
    }

    /// The ids of the events that a tenant's receiver has accepted, in the order of their arrival.
    func accepted(_ tenant: TenantID) -> [String] {
        state.withLock { $0.accepted[tenant] ?? [] }
    }

    /// Records that a receiver has accepted a request about an event.
    func accept(_ event: String, of tenant: TenantID) {
        state.withLock { $0.accepted[tenant, default: []].append(event) }
    }
}

extension MemoryEndpoints.Endpoint {
    /// Applies the part of a dispatcher's changes that concerns pending events.
    mutating func write(_ changes: DeliveryChanges, storesAccounts: Bool) {
        for position in changes.delivered { pending[position] = nil }
        for attempt in changes.failedAttempts {
            pending[attempt.item.position] = attempt.isDead ? nil : attempt.item
        }
        for item in changes.added {
            pending[item.position] = DeliveryQueue.Item(
                position: item.position, event: item.event, type: item.type,
                accounts: storesAccounts ? item.accounts : [], next: item.next)
        }
    }

    /// Moves the cursor, if it is where the dispatcher has read it.
    mutating func move(_ changes: DeliveryChanges) throws(DispatcherFault) {
        guard let moved = changes.moved else { return }
        guard moved.from == next else { throw .notHeld }
        next = moved.to
    }
}
