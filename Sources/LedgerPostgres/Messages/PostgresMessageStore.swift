internal import Cryptography
import Ledger
package import LedgerEngine
import LedgerMessages
import Postgres

/// The outbox in Postgres.
struct PostgresMessageStore: MessageStore {
    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 5, statement: 10) + ConnectionSettings.lookups

    private let session: Postgres.Session
    private let statusSession: Postgres.Session
    private let keyring: WrappingKeyring
    private let leaseSeconds: Int32
    private let notices: NoticeReader

    /// Creates a store without connecting.
    init(
        url: String, keyring: WrappingKeyring, leaseSeconds: Int32,
        provider: @escaping @Sendable (TenantID, ProviderName) -> String,
        accountPage: @escaping @Sendable (TenantID) -> String? = { _ in nil }
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger messages", statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        statusSession = Postgres.Session(
            url: url, applicationName: "account-ledger messages status",
            statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
        self.keyring = keyring
        self.leaseSeconds = leaseSeconds
        notices = NoticeReader(
            keyring: keyring, provider: provider, accountPage: accountPage)
    }

    func take(
        _ channel: MessageChannel, atMost limit: Int, besides busy: [TenantID: Int]
    ) async throws -> [LeasedMessage] {
        let lease = EntityID<MessageLease>(bits: SecureRandom.uint128())
        return try await session.run { [leaseSeconds] connection in
            let due = try connection.query(
                AllTenants.dueMessages, [.text(channel.rawValue), .int8(Int64(limit + busy.count))])
            var tenants: [TenantID] = []
            for row in 0..<due.rowCount {
                if let tenant = TenantID(try due.text(row, due.column("tenant_id"))) {
                    tenants.append(tenant)
                }
            }
            // Those with the fewest attempts under way first, then those that have waited longest.
            tenants = tenants.enumerated().map { ($0.offset, busy[$0.element] ?? 0, $0.element) }
                .sorted { ($0.1, $0.0) < ($1.1, $1.0) }.prefix(limit).map(\.2)
            let share = max(1, limit / max(1, tenants.count))
            let results = try connection.pipeline(
                tenants.map { tenant in
                    MessageRows.takeCall(
                        channel, of: tenant, lease, seconds: leaseSeconds, atMost: share)
                })
            var taken: [LeasedMessage] = []
            for (tenant, rows) in zip(tenants, results) {
                for row in 0..<rows.rowCount {
                    let id = MessageID(bits: try rows.uuid(row, rows.column("message_id")))
                    taken.append(LeasedMessage(tenant: tenant, id: id, lease: lease))
                }
            }
            return taken
        }
    }

    func begin(_ message: LeasedMessage) async throws -> MessageCheck {
        try await session.run { [keyring, leaseSeconds, notices] connection in
            let rows = try connection.query(MessageRows.beginCall(message, seconds: leaseSeconds))
            guard rows.rowCount == 1 else { return .gone }
            let attempts = Int(try rows.int4(0, rows.column("attempts")))
            guard let channel = MessageChannel(rawValue: try rows.text(0, rows.column("channel"))),
                let language = MessageLanguage(
                    rawValue: try rows.text(0, rows.column("language"))),
                let template = MessageTemplate(
                    rawValue: try rows.text(0, rows.column("template")))
            else { return .unreadable(attempts: attempts) }
            if let address = try rows.optionalUUID(0, rows.column("address_id")) {
                let event = LogPosition(try rows.int8(0, rows.column("position")))
                let disclosure = try rows.optionalInt8(0, rows.column("address_position"))
                    .map { LogPosition($0) }
                let found = try notices.read(
                    template, about: event, to: AddressID(bits: address),
                    disclosedAt: disclosure, in: message.tenant, on: connection)
                switch found {
                case .opened(let opened):
                    return .ready(opened, channel, language, attempts: attempts)
                case .unreadable: return .unreadable(attempts: attempts)
                case .gone:
                    _ = try connection.query(
                        MessageWrites.withdrawing([message.id], of: message.tenant))
                    return .gone
                }
            }
            guard
                let opened = keyring.open(
                    try rows.bytes(0, rows.column("sealed")),
                    wrappingKey: try rows.text(0, rows.column("wrapping_key")),
                    tenant: message.tenant, id: message.id, channel: channel, template: template,
                    language: language)
            else { return .unreadable(attempts: attempts) }
            return .ready(opened, channel, language, attempts: attempts)
        }
    }

    func end(_ message: LeasedMessage, _ end: AttemptEnd) async throws {
        let call = MessageRows.endCall(message, end)
        try await session.run { _ = try $0.query(call) }
    }

    func expire() async throws -> [MessageChannel: Int] {
        try await session.run { connection in
            let found = try connection.query(AllTenants.expiredMessages)
            var calls: [Call] = []
            for row in 0..<found.rowCount {
                calls.append(
                    Call(
                        MessageRows.expire, [.text(try found.text(row, found.column("tenant_id")))])
                )
            }
            var counts: [MessageChannel: Int] = [:]
            for rows in try connection.pipeline(calls) {
                for row in 0..<rows.rowCount {
                    let name = try rows.text(row, rows.column("channel"))
                    guard let channel = MessageChannel(rawValue: name) else { continue }
                    counts[channel, default: 0] += Int(try rows.int8(row, rows.column("count")))
                }
            }
            return counts
        }
    }

    func backlog() async throws -> [MessageBacklog] {
        try await statusSession.run { connection in
            let rows = try connection.query(AllTenants.messageBacklog)
            var backlog: [MessageBacklog] = []
            for row in 0..<rows.rowCount {
                let name = try rows.text(row, rows.column("channel"))
                guard let channel = MessageChannel(rawValue: name) else { continue }
                let age = try rows.int8(row, rows.column("oldest_microseconds"))
                backlog.append(
                    MessageBacklog(
                        channel: channel, count: try rows.int8(row, rows.column("count")),
                        oldestSeconds: Double(max(0, age)) / 1_000_000))
            }
            return backlog
        }
    }

    func close() async {
        await session.close()
        await statusSession.close()
    }
}

extension Connection {
    fileprivate func query(_ call: Call) throws(PostgresError) -> QueryResult {
        try query(call.statement, call.parameters)
    }
}

extension MessageDispatcher {
    /// Creates a dispatcher on Postgres, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - configuration: the transports and the limits.
    ///   - keyring: decrypts the messages.
    ///   - onFault: called with one line, free of personal data, for each fault; must not block.
    package convenience init(
        url: String, configuration: MessageDispatcherConfiguration, keyring: WrappingKeyring,
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(
            configuration: configuration,
            store: PostgresMessageStore(
                url: url, keyring: keyring, leaseSeconds: configuration.leaseSeconds,
                provider: configuration.provider, accountPage: configuration.accountPage),
            onFault: onFault)
    }
}
