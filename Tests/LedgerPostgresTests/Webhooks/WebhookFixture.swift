import Cryptography
import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import StandardWebhooks
import Synchronization

@testable import LedgerEngine
@testable import LedgerPostgres

/// A receiver in the test's own process with configurable answers, which can also hold requests.
final class TestReceiver: Sendable {
    private struct State {
        var requests: [WebhookRequest] = []
        var answer: @Sendable (WebhookRequest) -> WebhookOutcome = { _ in .ok }
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Every request so far, in order of arrival.
    var requests: [WebhookRequest] { state.withLock(\.requests) }

    /// The positions of the events of every request so far.
    var positions: [Int64] { requests.compactMap(\.position) }

    /// Sets the answer to all further requests.
    func answer(_ answer: @escaping @Sendable (WebhookRequest) -> WebhookOutcome) {
        state.withLock { $0.answer = answer }
    }

    /// Holds all further requests.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Releases all held requests.
    func open() {
        let waiting = state.withLock { state in
            state.isClosed = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func receive(_ request: WebhookRequest) async -> WebhookOutcome {
        state.withLock { $0.requests.append(request) }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if state.isClosed { state.waiting.append(continuation) }
                return !state.isClosed
            }
            if goesOn { continuation.resume() }
        }
        return state.withLock(\.answer)(request)
    }
}

/// The faults that a dispatcher reports.
final class TestFaults: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock(\.self) }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}

extension WebhookOutcome {
    /// Returns an answer without a `Retry-After`.
    static func status(_ status: Int) -> WebhookOutcome {
        .answered(status: status, retryAfterSeconds: nil)
    }

    static var ok: WebhookOutcome { status(200) }
}

extension WebhookRequest {
    private var data: [String: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return object?["data"] as? [String: Any] ?? [:]
    }

    /// The position of the event in the body.
    var position: Int64? { (data["position"] as? String).flatMap { Int64($0) } }

    /// The accounts that the event touches, each with its sequence number.
    var accounts: [String: Int64] {
        let accounts = (data["entry"] as? [String: Any])?["accounts"] as? [[String: Any]] ?? []
        return accounts.reduce(into: [:]) { found, account in
            if let id = account["id"] as? String, let text = account["seq"] as? String {
                found[id] = Int64(text)
            }
        }
    }
}

/// A ledger, a manual clock, and a receiver.
struct WebhookFixture: Sendable {
    /// A clock that moves only when it is advanced.
    final class Clock: Sendable {
        private let time = Mutex(Timestamp(seconds: 2_000_000_000))

        var now: Timestamp { time.withLock(\.self) }

        func advance(seconds: Int64) {
            time.withLock { $0 = $0.adding(seconds: seconds) }
        }
    }

    let database: ScratchDatabase
    let sequencer: SequencerFixture
    let clock = Clock()
    let receiver = TestReceiver()

    /// Creates a ledger, runs a body with it and drops it.
    static func with(_ body: @Sendable (WebhookFixture) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { sequencer in
                try await body(WebhookFixture(database: database, sequencer: sequencer))
            }
        }
    }

    /// Changes the webhooks of the tenant as an operator.
    func asOperator<Value: Sendable>(
        _ body: @Sendable (WebhookStore) throws -> Value
    ) async throws -> Value {
        let session = Postgres.Session(url: database.ownerURL, applicationName: "operator")
        let now = clock.now
        let value = try await session.run { try body(WebhookStore(.default, at: now, on: $0)) }
        await session.close()
        return value
    }

    /// Adds an endpoint that gets all events from the first on.
    func add(
        types: [Event.Name] = [], from: Int64? = 0, secret: WebhookSecret = .generate()
    ) async throws -> WebhookID {
        let id = WebhookID(at: clock.now, random: UInt128.random(in: 0...(.max)))
        let first = try await asOperator { store in
            try store.add(
                id, url: "https://receiver.example/hook", types: types,
                from: from.map(LogPosition.init), secret: secret,
                keyring: SequencerFixture.keyring)
        }
        guard first != nil else { throw TestTimeout(waitingFor: "a webhook") }
        return id
    }

    /// Returns the only endpoint, as operators see it.
    func webhook() async throws -> Webhook? {
        try await asOperator { try $0.webhooks().first }
    }

    /// Creates a dispatcher with the test's clock and without jitter.
    func dispatcher(
        to receiver: TestReceiver? = nil, keyring: WrappingKeyring = SequencerFixture.keyring,
        telling faults: TestFaults = TestFaults(),
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) -> WebhookDispatcher {
        let receiver = receiver ?? self.receiver
        var configuration = WebhookConfiguration(
            now: { [clock] in clock.now },
            send: { await receiver.receive($0) })
        configuration.retries = RetrySchedule(delays: [5, 30], jitter: { 1 })
        configuration.poll = .milliseconds(20)
        configuration.search = .milliseconds(50)
        change(&configuration)
        return WebhookDispatcher(
            url: database.runtimeURL, configuration: configuration, keyring: keyring,
            onFault: { faults.add($0) })
    }

    /// Runs a dispatcher while the body runs.
    func running<Value: Sendable>(
        _ dispatcher: WebhookDispatcher, _ body: () async throws -> Value
    ) async throws -> Value {
        let running = Task { await dispatcher.run() }
        do {
            let value = try await body()
            running.cancel()
            receiver.open()
            await running.value
            return value
        } catch {
            running.cancel()
            receiver.open()
            await running.value
            throw error
        }
    }

    /// Signs a subject in, a number of times.
    func signIn(_ subject: String, times: Int = 1) async throws -> AccountID {
        guard let provider = ProviderName("apple"),
            let identity = Subject(provider: provider, providerID: subject)
        else { throw TestTimeout(waitingFor: "an identity") }
        var account = AccountID(bits: 0)
        for _ in 0..<times { account = try await sequencer.signIn(identity).account }
        return account
    }

    /// Appends the loss of the log's end in a restore; returns the position of the event.
    func restore() async throws -> Int64 {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        let log = try await sequencer.log()
        let fact = LedgerRestored(origin: 2, root: log[0].leaf, size: 1_000)
        _ = try await sequencer.sequencer.submit(
            Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .recordRestore(RecordRestore(fact))))
        return Int64(log.count)
    }

    /// Changes rows with all guards disabled.
    func tamper(_ sql: String) async throws {
        try await database.asSuperuser.execute(
            """
            ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
            ALTER TABLE events DISABLE TRIGGER USER;
            \(sql)
            """)
    }

    /// Waits until everything in the log is delivered or given up.
    func settled(_ dead: Int64 = 0) async throws {
        try await soon("everything to be delivered") {
            guard let webhook = try await webhook() else { return false }
            return webhook.lag == 0 && webhook.pending == 0 && webhook.dead == dead
        }
    }

    /// Returns the results of a query as the superuser.
    func texts(_ sql: String) async throws -> [String] {
        try await database.asSuperuser.texts(sql)
    }
}

/// Waits at most 120 s until a condition holds.
func soon(_ what: String, _ condition: () async throws -> Bool) async throws {
    try await LedgerTestSupport.eventually(what, within: .seconds(120)) {
        try await condition() ? true : nil
    }
}
