import Ledger
import Postgres
import Synchronization

/// Sends the events of every tenant to the endpoints that operators have added, at least once and in order
/// per account.
///
/// Several processes may each run a dispatcher on the same database: a lease gives each endpoint to one
/// of them, and whatever is written names it. It has connections and threads of its own, and no command
/// waits for it.
package final class WebhookDispatcher: Sendable {
    private let configuration: WebhookConfiguration
    private let store: DispatcherStore
    private let statusSession: Postgres.Session
    private let onFault: @Sendable (String) -> Void
    private let counts = WebhookCounts()
    /// The endpoints that are worked on, each with what wakes its work.
    private let working = Mutex<[LeasedWebhook: WakeSignal]>([:])
    private let signal = WakeSignal()

    /// Makes a dispatcher; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and limits.
    ///   - keyring: unwraps the endpoints' secrets.
    ///   - onFault: called with one line, free of personal data, for each failure of the database; must
    ///     not block.
    package init(
        configuration: WebhookConfiguration, keyring: WrappingKeyring,
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.onFault = onFault
        store = DispatcherStore(
            url: configuration.url, keyring: keyring, leaseSeconds: configuration.leaseSeconds)
        statusSession = Postgres.Session(
            url: configuration.url, applicationName: "account-ledger webhooks status",
            statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    /// Delivers until the task is cancelled; survives a database that goes away and comes back.
    package func run() async {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    for endpoint in try await store.takeLeases() {
                        let signal = WakeSignal()
                        working.withLock { $0[endpoint] = signal }
                        group.addTask { await self.work(on: endpoint, signal) }
                    }
                } catch {
                    onFault("webhooks cannot be looked for: \(error)")
                }
                await signal.wait(atMost: configuration.search)
            }
        }
        await store.close()
        await statusSession.close()
    }

    /// Makes the dispatcher look at the log at once; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        for signal in working.withLock({ Array($0.values) }) { signal.raise() }
    }

    /// How every endpoint of every tenant stands, read from the database.
    ///
    /// - Throws: `PostgresError` when the database cannot say.
    package func status() async throws -> [Webhook] {
        try await statusSession.run { try WebhookList.all(on: $0) }
    }

    /// What the attempts of this process have ended in, by endpoint and outcome.
    package var outcomes: [WebhookCount] { counts.all }

    /// Whether it works on no endpoint.
    var isIdle: Bool { working.withLock(\.isEmpty) }

    private func work(on endpoint: LeasedWebhook, _ signal: WakeSignal) async {
        let delivering = WebhookDelivering(
            endpoint: endpoint, store: store, configuration: configuration, signal: signal,
            counts: counts, onFault: onFault)
        do {
            try await delivering.run()
        } catch DispatcherFault.notHeld {
            // Another one goes on, from what was written.
        } catch {
            // The lease lapses, and then it is tried again.
            onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant): \(error)")
        }
        working.withLock { $0[endpoint] = nil }
        // What changed is taken up without waiting for the next look.
        if !Task.isCancelled { self.signal.raise() }
    }
}
