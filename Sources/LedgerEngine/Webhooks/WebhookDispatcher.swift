import Ledger
import Synchronization

/// Sends the events of every tenant to the configured endpoints, at least once and in order per account.
///
/// Several processes may each run a dispatcher on the same database: a lease assigns each endpoint to one of
/// them, and every write requires it. It has its own connections and threads, and no command waits for it.
package final class WebhookDispatcher: Sendable {
    private let configuration: WebhookConfiguration
    private let store: any DispatcherStore
    private let onFault: @Sendable (String) -> Void
    private let counts = WebhookCounts()
    /// The leased endpoints, each with the signal that wakes its task.
    private let working = Mutex<[LeasedWebhook: WakeSignal]>([:])
    private let signal = WakeSignal()

    /// Creates a dispatcher, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: the sender and the limits.
    ///   - store: the endpoints and the log.
    ///   - onFault: called with one line, free of personal data, for each failure of the database; must not
    ///     block.
    package init(
        configuration: WebhookConfiguration, store: any DispatcherStore,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.onFault = onFault
        self.store = store
    }

    /// Delivers until the task is cancelled; survives an outage of the database.
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
                    onFault("webhook endpoints cannot be read: \(error)")
                }
                await signal.wait(atMost: configuration.search)
            }
        }
        await store.close()
    }

    /// Makes the dispatcher read the log soon; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        for signal in working.withLock({ Array($0.values) }) { signal.raise() }
    }

    /// Returns the state of every endpoint of every tenant, read from the store.
    ///
    /// - Throws: the error of a database that cannot be read.
    package func status() async throws -> [Webhook] {
        try await store.status()
    }

    /// The outcomes of this process's attempts, by endpoint and outcome.
    package var outcomes: [WebhookCount] { counts.all }

    /// Whether no endpoint is leased.
    var isIdle: Bool { working.withLock(\.isEmpty) }

    private func work(on endpoint: LeasedWebhook, _ signal: WakeSignal) async {
        let delivering = EndpointDelivery(
            endpoint: endpoint, store: store, configuration: configuration, signal: signal,
            counts: counts, onFault: onFault)
        do {
            try await delivering.run()
        } catch DispatcherFault.notHeld {
            // Another dispatcher continues from what was written.
        } catch {
            // The endpoint is tried again when the lease has lapsed.
            onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant): \(error)")
        }
        working.withLock { $0[endpoint] = nil }
        // A changed endpoint is leased again without waiting for the next search.
        if !Task.isCancelled { self.signal.raise() }
    }
}
