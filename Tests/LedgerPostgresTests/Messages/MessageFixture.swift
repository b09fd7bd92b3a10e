import Foundation
import Ledger
import LedgerMessages
import LedgerTestSupport
import Postgres
import Synchronization

@testable import LedgerEngine
@testable import LedgerPostgres

/// A transport in the test's own process with configurable outcomes, which can also hold attempts.
final class TestTransport: MessageTransport {
    private struct State {
        var sent: [RenderedMessage] = []
        var outcome: @Sendable (RenderedMessage) -> MessageOutcome = { _ in .accepted(code: 250) }
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Every attempt so far, in order.
    var attempts: [RenderedMessage] { state.withLock(\.sent) }

    /// Sets the outcome of all further attempts.
    func answer(_ outcome: @escaping @Sendable (RenderedMessage) -> MessageOutcome) {
        state.withLock { $0.outcome = outcome }
    }

    /// Holds all further attempts.
    func close() { state.withLock { $0.isClosed = true } }

    /// Releases all held attempts.
    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    /// Releases one held attempt, and keeps holding the others.
    func releaseOne() {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.resume()
    }

    func stop() { open() }

    func send(_ message: RenderedMessage) async -> MessageOutcome {
        state.withLock { $0.sent.append(message) }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isClosed { state.waiting.append(continuation) }
                return !state.isClosed
            }
            if goesOn { continuation.resume() }
        }
        return state.withLock(\.outcome)(message)
    }
}

/// An outbox with a transport.
struct MessageFixture: Sendable {
    let database: ScratchDatabase
    let transport = TestTransport()
    /// The ids of messages, in the order of their creation.
    private let ids = Counter()

    private final class Counter: Sendable {
        private let last = Mutex<UInt64>(0)

        func next() -> UInt64 {
            last.withLock { last in
                last += 1
                return last
            }
        }
    }

    static func with(_ body: @Sendable (MessageFixture) async throws -> Void) async throws {
        try await ScratchDatabase.with { try await body(MessageFixture(database: $0)) }
    }

    /// Returns a message with a code.
    func message(
        to recipient: String = "ada@example.org", code: String = "493021",
        account: AccountID? = nil, tenant: TenantID = .default, seconds: Int64 = 600,
        channel: MessageChannel = .email
    ) throws -> OutgoingMessage {
        try OutgoingMessage(
            id: MessageID(bits: UInt128(ids.next())), tenant: tenant,
            account: account, channel: channel, to: recipient,
            content: .code(.signInCode, code, minutes: 10),
            language: .english, lifetimeSeconds: seconds)
    }

    /// Writes messages in a transaction of their own.
    func write(
        _ messages: OutgoingMessage..., keyring: WrappingKeyring = SequencerFixture.keyring
    ) async throws {
        try await asServer { connection in
            try connection.transaction {
                try MessageWrites.insert(messages, keyring: keyring, on: connection)
            }
        }
    }

    /// Works on a connection of the servers' login.
    func asServer<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        let session = Postgres.Session(url: database.runtimeURL, applicationName: "a test")
        let value = try await session.run(body)
        await session.close()
        return value
    }

    func store(
        leaseSeconds: Int32 = 60, keyring: WrappingKeyring = SequencerFixture.keyring,
        provider: @escaping @Sendable (TenantID, ProviderName) -> String = { "\($1) of \($0)" }
    ) -> PostgresMessageStore {
        PostgresMessageStore(
            url: database.runtimeURL, keyring: keyring, leaseSeconds: leaseSeconds,
            provider: provider)
    }

    /// Creates a dispatcher without pauses between attempts.
    func dispatcher(
        by transport: (any MessageTransport)? = nil, telling faults: TestFaults = TestFaults(),
        _ change: (inout MessageDispatcherConfiguration) -> Void = { _ in }
    ) -> MessageDispatcher {
        let transport = transport ?? self.transport
        var configuration = MessageDispatcherConfiguration(
            transports: [.email: transport, .sms: transport],
            settings: { MessageSettings(product: "Shop of \($0)") })
        configuration.delays = [0]
        configuration.poll = .milliseconds(20)
        configuration.expiry = .milliseconds(20)
        configuration.writePause = .milliseconds(10)
        change(&configuration)
        return MessageDispatcher(
            url: database.runtimeURL, configuration: configuration,
            keyring: SequencerFixture.keyring, onFault: { faults.add($0) })
    }

    /// Runs a dispatcher while the body runs.
    func running<Value: Sendable>(
        _ dispatcher: MessageDispatcher, _ body: () async throws -> Value
    ) async throws -> Value {
        let running = Task { await dispatcher.run() }
        do {
            let value = try await body()
            running.cancel()
            transport.open()
            await running.value
            return value
        } catch {
            running.cancel()
            transport.open()
            await running.value
            throw error
        }
    }

    /// Returns state, attempts, code and fault of each message, by creation.
    func rows() async throws -> [String] {
        try await texts(
            """
            SELECT concat_ws(' ', state, attempts, coalesce(response_code::text, '-'),
                coalesce(fault, '-'), CASE WHEN sealed IS NULL THEN 'destroyed' ELSE 'sealed' END)
            FROM messages ORDER BY message_id
            """)
    }

    /// Returns the results of a query as the superuser.
    func texts(_ sql: String) async throws -> [String] {
        try await database.asSuperuser.texts(sql)
    }
}
