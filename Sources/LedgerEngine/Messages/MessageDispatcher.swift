internal import Ledger
internal import LedgerMessages
internal import Synchronization

/// Sends the messages of every tenant's outbox, at least once.
///
/// Several processes may each run one on the same database: a lease assigns each message to one of them. The
/// outcome is written as soon as it is known, so only a process that ends between the two sends a message
/// again. It has its own connections and threads, and no command waits for it.
package final class MessageDispatcher: Sendable {
    private let configuration: MessageDispatcherConfiguration
    private let store: any MessageStore
    private let onFault: @Sendable (String) -> Void
    private let counts = MessageCounts()
    private let signals: [MessageChannel: WakeSignal]
    /// The number of attempts of each tenant that are under way.
    private let inFlight = Mutex<[MessageChannel: [TenantID: Int]]>([:])
    /// The last failure of each channel, so that each is reported once.
    private let failures = Mutex<[MessageChannel: MessageFailure]>([:])

    /// Creates a dispatcher, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: the transports and the limits.
    ///   - store: the outbox.
    ///   - onFault: called with one line, free of personal data, for each fault; must not block.
    package init(
        configuration: MessageDispatcherConfiguration, store: any MessageStore,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.store = store
        self.onFault = onFault
        signals = configuration.transports.mapValues { _ in WakeSignal() }
    }

    /// Sends until the task is cancelled; survives an outage of the database.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for (channel, transport) in configuration.transports {
                group.addTask { await self.work(on: channel, by: transport) }
            }
            group.addTask { await self.expire() }
            group.addTask { await self.stopTransports() }
        }
        await store.close()
    }

    /// Makes the dispatcher read the outbox now; never blocks.
    ///
    /// To be called after each commit that wrote messages.
    package func wake() {
        for signal in signals.values { signal.raise() }
    }

    /// Returns the unsent messages of each channel, read from the store.
    ///
    /// - Throws: the error of a database that cannot be read.
    package func backlog() async throws -> [MessageBacklog] {
        try await store.backlog()
    }

    /// The outcomes of this process, by channel and outcome.
    package var outcomes: [MessageCount] { counts.all }

    private func work(on channel: MessageChannel, by transport: any MessageTransport) async {
        guard let signal = signals[channel] else { return }
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let busy = inFlight.withLock { $0[channel] ?? [:] }
                let free = configuration.inFlightMax - busy.values.reduce(0, +)
                var taken: [LeasedMessage] = []
                do {
                    if free > 0 {
                        taken = try await store.take(channel, atMost: free, besides: busy)
                    }
                } catch {
                    onFault("the outbox cannot be read: \(error)")
                }
                for message in taken {
                    count(1, of: message.tenant, on: channel)
                    group.addTask {
                        await self.send(message, by: transport, of: channel)
                        self.count(-1, of: message.tenant, on: channel)
                        signal.raise()
                    }
                }
                // Every tenant had a share; there may be more of some.
                if taken.isEmpty || taken.count == free {
                    await signal.wait(atMost: configuration.poll)
                }
            }
        }
    }

    /// Counts an attempt that begins or ends.
    private func count(_ change: Int, of tenant: TenantID, on channel: MessageChannel) {
        inFlight.withLock { attempts in
            let count = (attempts[channel]?[tenant] ?? 0) + change
            attempts[channel, default: [:]][tenant] = count == 0 ? nil : count
        }
    }

    private func send(
        _ leased: LeasedMessage, by transport: any MessageTransport, of channel: MessageChannel
    ) async {
        do {
            switch try await store.begin(leased) {
            case .gone: return
            case .unreadable(let attempts):
                let outcome = MessageOutcome.deferred(code: nil, .unreadable)
                await record(outcome, of: leased, channel, after: attempts)
            case .ready(let message, let channel, _, let attempts)
            where !configuration.maySend(leased.tenant, channel, message.recipient):
                await record(.refused(code: nil), of: leased, channel, after: attempts)
            case .ready(let message, let channel, let language, let attempts):
                let settings = configuration.settings(leased.tenant)
                let outcome = await transport.send(
                    RenderedMessage(
                        id: leased.id, tenant: leased.tenant, channel: channel,
                        template: message.content.template, language: language,
                        recipient: message.recipient,
                        text: message.content.text(
                            for: channel, in: language, by: settings,
                            accountPage: configuration.accountPage(leased.tenant))))
                await record(outcome, of: leased, channel, after: attempts)
            }
        } catch {
            // It was not sent; its lease lapses.
            onFault("message \(leased.id) of tenant \(leased.tenant): \(error)")
        }
    }

    private func record(
        _ outcome: MessageOutcome, of message: LeasedMessage, _ channel: MessageChannel,
        after attempts: Int
    ) async {
        let end: AttemptEnd
        switch outcome {
        case .accepted(let code):
            end = .sent(code: code)
            counts.add("sent", of: channel)
            failures.withLock { $0[channel] = nil }
        case .refused(let code, let failure):
            end = .failed(code: code, failure)
            counts.add("failed", of: channel)
            onFault(
                "message \(message.id) of tenant \(message.tenant) was refused by"
                    + " \(channel.rawValue): "
                    + (code.map(String.init) ?? failure?.rawValue ?? "no code"))
        case .deferred(let code, let failure, let asked):
            let pause =
                failure == .stopped ? 0 : configuration.pause(after: attempts, asked: asked)
            end = .again(after: pause, code: code, failure)
            counts.add(failure.rawValue, of: channel)
            report(failure, code: code, of: channel)
        }
        await write(end, of: message)
    }

    /// Writes an outcome, again and again while the message's lease may last: otherwise the message is sent
    /// twice.
    private func write(_ end: AttemptEnd, of message: LeasedMessage) async {
        let limit = ContinuousClock.now + .seconds(Int64(configuration.leaseSeconds))
        while true {
            do {
                return try await store.end(message, end)
            } catch {
                guard ContinuousClock.now < limit, !Task.isCancelled else {
                    return onFault(
                        "the outcome of message \(message.id) of tenant \(message.tenant)"
                            + " cannot be written: \(error)")
                }
                try? await Task.sleep(for: configuration.writePause)
            }
        }
    }

    private func report(_ failure: MessageFailure, code: Int?, of channel: MessageChannel) {
        let isNew = failures.withLock { $0.updateValue(failure, forKey: channel) != failure }
        guard isNew, failure != .stopped else { return }
        onFault(
            "messages by \(channel.rawValue) wait: \(failure.rawValue)"
                + (code.map { " (\($0))" } ?? ""))
    }

    private func expire() async {
        while !Task.isCancelled {
            do {
                for (channel, count) in try await store.expire() {
                    counts.add("expired", of: channel, count: count)
                }
            } catch {
                onFault("expired messages cannot be ended: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: configuration.expiry)
        }
    }

    /// Ends attempts under way some time after the cancellation.
    private func stopTransports() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
        let (transports, limit) = (configuration.transports.values, configuration.drainLimit)
        Task.detached {
            try? await Task.sleep(for: limit)
            for transport in transports { transport.stop() }
        }
    }
}
