import Cryptography
import Ledger
import LedgerEngine
import Postgres
import StandardWebhooks

/// The dispatcher's store in production: endpoints, pending events and log in one Postgres database.
struct PostgresDispatcherStore: DispatcherStore {
    /// Settings of the connection: each statement looks up few keys or reads a range in order.
    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 5, statement: 10) + ConnectionSettings.lookups

    private let session: Postgres.Session
    private let statusSession: Postgres.Session
    private let keyring: WrappingKeyring
    private let leaseSeconds: Int32

    /// Creates a store without connecting.
    init(url: String, keyring: WrappingKeyring, leaseSeconds: Int32) {
        session = Postgres.Session(
            url: url, applicationName: LockHolderName.webhooks.rawValue,
            statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        statusSession = Postgres.Session(
            url: url, applicationName: "account-ledger webhooks status",
            statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
        self.keyring = keyring
        self.leaseSeconds = leaseSeconds
    }

    func takeLeases() async throws -> [LeasedWebhook] {
        let lease = EntityID<WebhookLease>(bits: SecureRandom.uint128())
        return try await session.run { [leaseSeconds] connection in
            let results = try DispatcherRows.takeLeases(
                lease, seconds: leaseSeconds, on: connection)
            var taken: [LeasedWebhook] = []
            for rows in results {
                for row in 0..<rows.rowCount {
                    guard let tenant = TenantID(try rows.text(row, rows.column("tenant_id")))
                    else { continue }
                    taken.append(
                        LeasedWebhook(
                            tenant: tenant,
                            id: WebhookID(bits: try rows.uuid(row, rows.column("endpoint_id"))),
                            lease: lease))
                }
            }
            return taken
        }
    }

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
                    try rows.bytes(row, rows.column("wrapped_secret")),
                    wrappingKey: try rows.text(row, rows.column("wrapping_key")),
                    tenant: endpoint.tenant, endpoint: endpoint.id,
                    id: WebhookSecretID(bits: try rows.uuid(row, rows.column("secret_id"))))
                let endsAt = try rows.optionalTimestamp(row, rows.column("ends_at")).map(
                    Timestamp.init(microseconds:))
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
                guard
                    try results[0].int8(row, results[0].column("position")) == from.value
                        + Int64(row)
                else { break }
                page.append(
                    try results[0].optionalBytes(row, results[0].column("entry")) == nil
                        ? nil : try Self.event(results[0], row, of: endpoint.tenant, protection))
            }
            return LogPoll(
                endpointState: try DispatcherRows.endpointState(results[1]), page: page,
                isGap: page.isEmpty && results[0].rowCount > 0)
        }
    }

    func events(
        of tenant: TenantID, at positions: [LogPosition]
    ) async throws -> [LogPosition: TracedEvent] {
        try await session.run { [macs = keyring.macs] connection in
            let results = try connection.pipeline(
                [DispatcherRows.entriesCall(of: tenant, at: positions)]
                    + LogProtection.calls(of: tenant, keys: macs))
            let protection = try LogProtection.found(in: results[1...], of: tenant, keys: macs)
            var events: [LogPosition: TracedEvent] = [:]
            for row in 0..<results[0].rowCount {
                events[LogPosition(try results[0].int8(row, results[0].column("position")))] =
                    TracedEvent(
                        try Self.event(results[0], row, of: tenant, protection),
                        trace: try results[0].optionalText(
                            row, results[0].column("traceparent")))
            }
            return events
        }
    }

    /// Decodes the event of a row of position, entry and MAC.
    private static func event(
        _ rows: QueryResult, _ row: Int, of tenant: TenantID, _ protection: LogProtection?
    ) throws(PostgresError) -> Result<StoredEvent, LogDamage> {
        let (entry, mac) = (
            try rows.bytes(row, rows.column("entry")),
            try rows.optionalBytes(row, rows.column("mac"))
        )
        let position = LogPosition(try rows.int8(row, rows.column("position")))
        return Result { () throws(LogDamage) in
            try StoredEvent(entry: entry, mac: mac, at: position, in: tenant, protection)
        }
    }

    func write(_ changes: DeliveryChanges, of endpoint: LeasedWebhook) async throws {
        let calls =
            [Call(.begin), DispatcherRows.holdCall(endpoint, seconds: leaseSeconds)]
            + DispatcherRows.calls(changes, of: endpoint) + [Call(.commit)]
        try await session.run { connection in
            do throws(PostgresError) {
                _ = try connection.pipeline(calls)
            } catch {
                // `ledger_expect` raises this for a lost lease and for a cursor at another position.
                guard case .server(let refusal) = error, refusal.state == .dataException else {
                    throw error
                }
                connection.rollBack()
                throw DispatcherFault.notHeld
            }
        }
    }

    func release(_ endpoint: LeasedWebhook) async {
        let call = DispatcherRows.releaseCall(endpoint)
        try? await session.run { _ = try $0.query(call.statement, call.parameters) }
    }

    func status() async throws -> [Webhook] {
        try await statusSession.run { try WebhookList.all(on: $0) }
    }

    func close() async {
        await session.close()
        await statusSession.close()
    }
}
