import Cryptography
import Ledger
import Postgres
import StandardWebhooks

/// An endpoint that a dispatcher has leased.
struct LeasedWebhook: Hashable, Sendable {
    let tenant: TenantID
    let id: WebhookID
    /// The token of the lease, new each time the endpoint is leased; every write requires it.
    let lease: EntityID<WebhookLease>
}

/// The stored state of an endpoint.
struct EndpointState: Hashable, Sendable {
    /// Whether the lease of the request is still valid.
    let isHeld: Bool
    let isEnabled: Bool
    let revision: Int64
    let next: LogPosition
    let url: String
    let types: [String]
}

/// A secret that signs until it ends.
struct HeldSecret: Sendable {
    let secret: WebhookSecret
    let endsAt: Timestamp?
}

/// The data with which a dispatcher starts on an endpoint.
struct LoadedWebhook: Sendable {
    let endpointState: EndpointState
    let secrets: [HeldSecret]
    let items: [DeliveryQueue.Item]
}

/// The result of a poll for new events.
struct LogPoll: Sendable {
    /// The state of the endpoint; nil when it was removed.
    let endpointState: EndpointState?
    /// The next events; nil for each one that is skipped.
    let page: [Result<StoredEvent, LogDamage>?]
    /// Whether the next event is missing although later ones exist.
    let isGap: Bool
}

/// The changes of one transaction for an endpoint.
struct DeliveryChanges: Sendable {
    /// An attempt that did not end in a delivery.
    struct FailedAttempt: Sendable {
        let item: DeliveryQueue.Item
        let isDead: Bool
        let attemptedAt: Timestamp
        let status: Int?
        let fault: String?
    }

    var delivered: [LogPosition] = []
    var failedAttempts: [FailedAttempt] = []
    var added: [DeliveryQueue.Item] = []
    var moved: (from: LogPosition, to: LogPosition)?
    var isGone = false

    var isEmpty: Bool {
        delivered.isEmpty && failedAttempts.isEmpty && added.isEmpty && moved == nil && !isGone
    }
}

/// Why a dispatcher releases an endpoint.
enum DispatcherFault: Error, CustomStringConvertible {
    /// Another dispatcher holds the lease, or the endpoint was removed.
    case notHeld
    /// The present keys decrypt none of its secrets.
    case secretUnreadable

    var description: String {
        switch self {
        case .notHeld: "another dispatcher holds its lease"
        case .secretUnreadable: "no key of the directory decrypts its secret"
        }
    }
}

/// The statements of a dispatcher, executed on one connection.
struct DispatcherStore: Sendable {
    /// Settings of the connection: each statement looks up few keys or reads a range in order.
    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 5, statement: 10) + ConnectionSettings.lookups

    private let session: Postgres.Session
    private let keyring: WrappingKeyring
    private let leaseSeconds: Int32

    /// Creates a store without connecting.
    init(url: String, keyring: WrappingKeyring, leaseSeconds: Int32) {
        session = Postgres.Session(
            url: url, applicationName: LockHolderName.webhooks.rawValue,
            statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        self.keyring = keyring
        self.leaseSeconds = leaseSeconds
    }

    /// Leases every enabled endpoint whose lease is free.
    func takeLeases() async throws -> [LeasedWebhook] {
        let lease = EntityID<WebhookLease>(bits: SecureRandom.uint128())
        let call = DispatcherRows.takeLeasesCall(lease, seconds: leaseSeconds)
        return try await session.run { connection in
            let rows = try connection.query(call.statement, call.parameters)
            var taken: [LeasedWebhook] = []
            for row in 0..<rows.rowCount {
                guard let tenant = TenantID(try rows.text(row, 0)) else { continue }
                taken.append(
                    LeasedWebhook(
                        tenant: tenant, id: WebhookID(bits: try rows.uuid(row, 1)), lease: lease))
            }
            return taken
        }
    }

    /// Reads the complete state of an endpoint.
    ///
    /// - Throws: `DispatcherFault`, `PostgresError`.
    func load(_ endpoint: LeasedWebhook) async throws -> LoadedWebhook {
        try await session.run { [keyring] connection in
            // The revision first: a concurrent change by an operator then shows as another revision in the
            // next poll.
            let results = try connection.pipeline([
                DispatcherRows.stateCall(endpoint), DispatcherRows.secretsCall(endpoint),
                DispatcherRows.pendingCall(endpoint),
            ])
            guard let endpointState = try DispatcherRows.endpointState(results[0]),
                endpointState.isHeld
            else {
                throw DispatcherFault.notHeld
            }
            var secrets: [HeldSecret] = []
            let rows = results[1]
            for row in 0..<rows.rowCount {
                let secret = keyring.unwrap(
                    try rows.bytes(row, 2), wrappingKey: try rows.text(row, 1),
                    tenant: endpoint.tenant, endpoint: endpoint.id,
                    id: WebhookSecretID(bits: try rows.uuid(row, 0)))
                let endsAt = try rows.optionalTimestamp(row, 3).map(Timestamp.init(microseconds:))
                guard let secret else {
                    if endsAt == nil { throw DispatcherFault.secretUnreadable }
                    continue
                }
                secrets.append(HeldSecret(secret: secret, endsAt: endsAt))
            }
            guard !secrets.isEmpty else { throw DispatcherFault.secretUnreadable }
            return LoadedWebhook(
                endpointState: endpointState, secrets: secrets,
                items: try DispatcherRows.items(results[2]))
        }
    }

    /// Reads a page of the log, with nil for each event to skip, and then the state of the endpoint.
    ///
    /// In this order an operator's change before an event was appended is seen with that event.
    /// - Throws: `PostgresError`.
    func poll(
        at endpoint: LeasedWebhook, from: LogPosition, limit: Int, types: [String]
    ) async throws -> LogPoll {
        try await session.run { [macs = keyring.macs] connection in
            let results = try connection.pipeline(
                [
                    DispatcherRows.pageCall(
                        of: endpoint.tenant, from: from, limit: limit, types: types),
                    DispatcherRows.stateCall(endpoint),
                ] + LogProtection.calls(of: endpoint.tenant, keys: macs))
            let protection = try LogProtection.found(
                in: results[2...], of: endpoint.tenant, keys: macs)
            var page: [Result<StoredEvent, LogDamage>?] = []
            for row in 0..<results[0].rowCount {
                // Nothing after a gap is sent; the next poll begins with it.
                guard try results[0].int8(row, 0) == from.value + Int64(row) else { break }
                page.append(
                    try results[0].optionalBytes(row, 1) == nil
                        ? nil : try Self.event(results[0], row, of: endpoint.tenant, protection))
            }
            return LogPoll(
                endpointState: try DispatcherRows.endpointState(results[1]), page: page,
                isGap: page.isEmpty && results[0].rowCount > 0)
        }
    }

    /// Reads the events at some positions.
    ///
    /// - Throws: `PostgresError`.
    func events(
        of tenant: TenantID, at positions: [LogPosition]
    ) async throws -> [LogPosition: Result<StoredEvent, LogDamage>] {
        try await session.run { [macs = keyring.macs] connection in
            let results = try connection.pipeline(
                [DispatcherRows.entriesCall(of: tenant, at: positions)]
                    + LogProtection.calls(of: tenant, keys: macs))
            let protection = try LogProtection.found(in: results[1...], of: tenant, keys: macs)
            var events: [LogPosition: Result<StoredEvent, LogDamage>] = [:]
            for row in 0..<results[0].rowCount {
                events[LogPosition(try results[0].int8(row, 0))] = try Self.event(
                    results[0], row, of: tenant, protection)
            }
            return events
        }
    }

    /// Decodes the event of a row of position, entry and code.
    private static func event(
        _ rows: QueryResult, _ row: Int, of tenant: TenantID, _ protection: LogProtection?
    ) throws(PostgresError) -> Result<StoredEvent, LogDamage> {
        let (entry, mac) = (try rows.bytes(row, 1), try rows.optionalBytes(row, 2))
        let position = LogPosition(try rows.int8(row, 0))
        return Result { () throws(LogDamage) in
            try StoredEvent(entry: entry, mac: mac, at: position, in: tenant, protection)
        }
    }

    /// Writes changes and renews the lease, in one transaction.
    ///
    /// - Throws: `DispatcherFault.notHeld` when the lease was lost; `PostgresError`.
    func write(_ changes: DeliveryChanges, of endpoint: LeasedWebhook) async throws {
        let calls =
            [Call(.begin), DispatcherRows.holdCall(endpoint, seconds: leaseSeconds)]
            + DispatcherRows.calls(changes, of: endpoint) + [Call(.commit)]
        try await session.run { connection in
            do throws(PostgresError) {
                _ = try connection.pipeline(calls)
            } catch {
                // `ledger_expect` raises this for a lost lease and for a cursor at another position.
                guard case .server(let refusal) = error, refusal.state.rawValue == "22000" else {
                    throw error
                }
                connection.rollBack()
                throw DispatcherFault.notHeld
            }
        }
    }

    /// Releases an endpoint, so that another dispatcher can lease it at once.
    func release(_ endpoint: LeasedWebhook) async {
        let call = DispatcherRows.releaseCall(endpoint)
        try? await session.run { _ = try $0.query(call.statement, call.parameters) }
    }

    /// Closes the connection.
    func close() async {
        await session.close()
    }
}
