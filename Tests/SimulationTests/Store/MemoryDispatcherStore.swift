import Ledger
import StandardWebhooks

@testable import LedgerEngine

/// One dispatcher's connection to the simulated database.
struct MemoryDispatcherStore: DispatcherStore {
    let process: SimulatedProcess
    let world: World

    private var endpoints: MemoryEndpoints { world.endpoints }

    func takeLeases() async throws -> [LeasedWebhook] {
        try await travel("looks for endpoints")
        let (now, lease): (Timestamp, EntityID<WebhookLease>) = (
            world.database.now, world.dice.id()
        )
        let longest = end(of: now)
        return try world.tenants.compactMap { tenant in
            try endpoints.change(tenant) { endpoint in
                guard
                    endpoint.lease == nil || endpoint.expiresAt < now
                        || endpoint.expiresAt > longest
                else { return nil }
                (endpoint.lease, endpoint.expiresAt) = (lease, longest)
                return LeasedWebhook(tenant: tenant, id: WebhookID(bits: 1), lease: lease)
            }
        }
    }

    func load(_ endpoint: LeasedWebhook) async throws -> LoadedWebhook {
        try await travel("reads pending events")
        guard let secret = WebhookSecret(bytes: Array(repeating: 1, count: 32)),
            let state = state(of: endpoint), state.isHeld
        else { throw DispatcherFault.notHeld }
        let pending = endpoints.endpoint(endpoint.tenant).pending.values
        return LoadedWebhook(
            endpointState: state, secrets: [HeldSecret(secret: secret, endsAt: nil)],
            items: pending.sorted { $0.position < $1.position })
    }

    func poll(
        at endpoint: LeasedWebhook, from: LogPosition, limit: Int, types: [String]
    ) async throws -> LogPoll {
        try await travel("looks for events to deliver")
        let page = world.database.log(of: endpoint.tenant).dropFirst(Int(from.value)).prefix(limit)
        return LogPoll(
            endpointState: state(of: endpoint),
            page: page.map { event($0, of: endpoint.tenant) }, isGap: false)
    }

    func events(
        of tenant: TenantID, at positions: [LogPosition]
    ) async throws -> [LogPosition: TracedEvent] {
        try await travel("reads events to deliver")
        let log = world.database.log(of: tenant)
        return Dictionary(
            uniqueKeysWithValues: positions.map {
                ($0, TracedEvent(event(log[Int($0.value)], of: tenant)))
            })
    }

    func write(_ changes: DeliveryChanges, of endpoint: LeasedWebhook) async throws {
        try await travel("writes deliveries")
        let end = end(of: world.database.now)
        let storesAccounts = world.bug != .pendingWithoutAccounts
        let isSplit = world.bug == .intakeOutsideTransaction
        try change(endpoint) { stored throws(DispatcherFault) in
            try stored.move(changes)
            stored.expiresAt = end
            if !isSplit { stored.write(changes, storesAccounts: storesAccounts) }
        }
        if isSplit {
            try await travel("writes pending events")
            try change(endpoint) { $0.write(changes, storesAccounts: storesAccounts) }
        }
        try await travel("has written deliveries")
    }

    func release(_ endpoint: LeasedWebhook) async {
        _ = try? change(endpoint) { $0.lease = nil }
    }

    func status() async throws -> [Webhook] { [] }

    func close() async {}

    /// Runs a body in a transaction that requires the lease.
    private func change(
        _ endpoint: LeasedWebhook,
        _ body: (inout MemoryEndpoints.Endpoint) throws(DispatcherFault) -> Void
    ) throws(DispatcherFault) {
        try endpoints.change(endpoint.tenant) { stored throws(DispatcherFault) in
            guard stored.lease == endpoint.lease else { throw .notHeld }
            try body(&stored)
        }
    }

    private func state(of endpoint: LeasedWebhook) -> EndpointState? {
        let stored = endpoints.endpoint(endpoint.tenant)
        return EndpointState(
            isHeld: stored.lease == endpoint.lease, isEnabled: true, revision: 0,
            next: stored.next, url: endpoint.tenant.description, types: [])
    }

    private func event(
        _ recording: Recording, of tenant: TenantID
    ) -> Result<StoredEvent, LogDamage> {
        Result { () throws(LogDamage) in
            try StoredEvent(
                entry: recording.entry, at: recording.recorded.position, in: tenant)
        }
    }

    private func end(of now: Timestamp) -> Timestamp {
        Timestamp(microseconds: now.microseconds + MemoryEndpoints.leaseMicroseconds)
    }

    private func travel(_ name: String) async throws {
        await world.faultPoint("dispatcher: \(name)", in: process)
        guard !world.strikes(.deliveryFails), !endpoints.isClosed else {
            throw BatchFault.connectionLost
        }
    }
}
