import Cryptography
import Ledger
import StandardWebhooks
import Synchronization

/// Delivers to one endpoint while its lease is held and its configuration unchanged.
///
/// Outcomes are written before another attempt starts: after a crash at most the attempts in progress are
/// repeated.
struct EndpointDelivery: Sendable {
    let endpoint: LeasedWebhook
    let store: any DispatcherStore
    let configuration: WebhookConfiguration
    let signal: WakeSignal
    let counts: WebhookCounts
    let onFault: @Sendable (String) -> Void

    /// An attempt that has ended.
    fileprivate struct Ended: Sendable {
        let item: DeliveryQueue.Item
        let outcome: WebhookOutcome
    }

    /// Collects ended attempts from any thread.
    fileprivate final class CompletedAttempts: Sendable {
        private let ended = Mutex<[Ended]>([])

        func put(_ one: Ended) {
            ended.withLock { $0.append(one) }
        }

        func take() -> [Ended] {
            ended.withLock { ended in
                defer { ended = [] }
                return ended
            }
        }
    }

    /// The state between two steps.
    struct State: Sendable {
        let url: String
        let types: [String]
        let revision: Int64
        let secrets: [HeldSecret]
        fileprivate(set) var next: LogPosition
        fileprivate(set) var queue: DeliveryQueue
        fileprivate let completed = CompletedAttempts()
        /// Ended attempts that are not written yet.
        fileprivate var ended: [Ended] = []
        /// Whether the configuration changed: attempts in progress are awaited, and no others start.
        fileprivate var isDraining = false
        /// Whether the pending events leave no capacity for those of the log.
        fileprivate var isFull = false
        /// When an event was last sent to learn whether the receiver has recovered.
        fileprivate var probedAt: Timestamp
        /// The number of events to send before their time, because others were accepted.
        fileprivate var earlyCount = 0
        /// Whether the last page was full.
        fileprivate(set) var hasMore = false
        /// The damaged event that was reported last.
        fileprivate var reportedDamage: LogPosition?
        fileprivate var renewedAt: ContinuousClock.Instant
    }

    /// Delivers until the task is cancelled, the endpoint changes or the lease is lost.
    ///
    /// - Throws: `DispatcherFault`, or the store's error when the endpoint cannot be loaded.
    func run() async throws {
        var state = try await load()
        var backoff = Duration.zero
        while !Task.isCancelled {
            do {
                guard try await step(&state) else { break }
                backoff = .zero
            } catch let fault as DispatcherFault {
                // A lease that this process still holds would block other dispatchers until it lapses.
                await store.release(endpoint)
                throw fault
            } catch {
                onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant): \(error)")
                backoff = min(max(backoff * 2, .milliseconds(50)), .seconds(2))
                _ = try? await Task.sleep(for: backoff)
                continue
            }
            if !state.hasMore { await signal.wait(atMost: pause(state)) }
        }
        // A cancelled task cannot wait, and delivered events must not be sent again.
        await Task { [state] in await drain(state) }.value
    }

    /// Reads the state with which the work on the endpoint begins.
    ///
    /// - Throws: `DispatcherFault`, or the store's error.
    func load() async throws -> State {
        let loaded = try await store.load(endpoint)
        var state = State(
            url: loaded.endpointState.url, types: loaded.endpointState.types,
            revision: loaded.endpointState.revision, secrets: loaded.secrets,
            next: loaded.endpointState.next,
            queue: DeliveryQueue(pauseMax: configuration.retries.pauseMax),
            probedAt: configuration.now(), renewedAt: configuration.clock())
        state.queue.add(loaded.items)
        for end in loaded.items.compactMap(configuration.retries.pauseEnd(after:)) {
            state.queue.hold(until: end)
        }
        return state
    }

    /// Waits briefly for the attempts in progress, writes the outcomes, and releases the endpoint.
    private func drain(_ state: State) async {
        var ended = state.ended + state.completed.take()
        let end = ContinuousClock.now + configuration.drainLimit
        while ended.count < state.queue.started.count, ContinuousClock.now < end {
            await signal.wait(atMost: end - ContinuousClock.now)
            ended += state.completed.take()
        }
        var changes = DeliveryChanges()
        settle(ended, at: configuration.now(), into: &changes)
        do {
            if !changes.isEmpty { try await store.write(changes, of: endpoint) }
            count(changes)
        } catch {
            // These events are sent again.
        }
        await store.release(endpoint)
    }

    /// Writes outcomes, enqueues new events and starts due ones; returns false when the work is done.
    func step(_ state: inout State) async throws -> Bool {
        state.ended += state.completed.take()
        state.hasMore = false
        let capacity = IntakeCapacity(beside: state.queue, configuration)
        state.isFull = capacity.limit == 0
        let poll = try await store.poll(
            at: endpoint, from: state.next, limit: state.isDraining ? 0 : capacity.limit,
            types: state.types)
        // Another cursor position: a transaction was committed whose response was lost.
        guard let endpointState = poll.endpointState, endpointState.isHeld,
            endpointState.next == state.next
        else {
            throw DispatcherFault.notHeld
        }
        if !endpointState.isEnabled || endpointState.revision != state.revision {
            state.isDraining = true
        }

        let now = configuration.now()
        var changes = DeliveryChanges()
        settle(state.ended, at: now, into: &changes)
        if !state.isDraining {
            if poll.isGap {
                reportDamage(LogDamage(position: state.next, fault: "the event is missing"), &state)
            }
            enqueue(poll.page, capacity: capacity, &state, into: &changes)
        }
        let isRenewed = configuration.clock() - state.renewedAt >= configuration.renewal
        if !changes.isEmpty || isRenewed {
            try await store.write(changes, of: endpoint)
            state.renewedAt = configuration.clock()
        }
        apply(changes, at: now, to: &state)
        if changes.isGone { state.isDraining = true }
        guard !state.isDraining else { return !state.queue.started.isEmpty }
        try await begin(&state)
        return true
    }

    /// Returns the maximum wait for a wake-up.
    private func pause(_ state: State) -> Duration {
        let now = configuration.now()
        guard !state.isDraining,
            let next = state.queue.next(configuration.inFlightMax, at: now)
        else { return configuration.poll }
        let wait = next.microseconds - now.microseconds
        return min(configuration.poll, .microseconds(max(0, wait)))
    }

    // MARK: - Outcomes

    private func settle(
        _ ended: [Ended], at now: Timestamp, into changes: inout DeliveryChanges
    ) {
        for one in ended {
            var item = one.item
            item.refusedAt = nil
            item.isEarly = false
            switch one.outcome {
            case .answered(let status, _) where (200..<300).contains(status):
                changes.delivered.append(item.position)
            case .failed(.stopped):
                break
            case .answered(let status, _) where one.item.isEarly && status != 410:
                break
            case .failed where one.item.isEarly:
                break
            case .answered(let status, let asked):
                item.attempts += 1
                if RetrySchedule.pausing.contains(status) { item.refusedAt = now }
                guard status != 410 else {
                    changes.isGone = true
                    item.next = now
                    note(item, isDead: false, at: now, status: status, into: &changes)
                    continue
                }
                retry(item, at: now, asked: asked, status: status, into: &changes)
            case .failed(let fault):
                item.attempts += 1
                retry(item, at: now, fault: fault.rawValue, into: &changes)
            }
        }
    }

    private func retry(
        _ item: DeliveryQueue.Item, at now: Timestamp, asked: Int64? = nil, status: Int? = nil,
        fault: String? = nil, into changes: inout DeliveryChanges
    ) {
        var item = item
        let next = configuration.retries.next(after: item.attempts, at: now, asked: asked)
        item.next = next ?? now
        note(item, isDead: next == nil, at: now, status: status, fault: fault, into: &changes)
    }

    private func note(
        _ item: DeliveryQueue.Item, isDead: Bool, at now: Timestamp, status: Int? = nil,
        fault: String? = nil, into changes: inout DeliveryChanges
    ) {
        changes.failedAttempts.append(
            DeliveryChanges.FailedAttempt(
                item: item, isDead: isDead, attemptedAt: now, status: status, fault: fault))
    }

    /// Applies the written changes; until then an account's next event waits.
    private func apply(_ changes: DeliveryChanges, at now: Timestamp, to state: inout State) {
        count(changes)
        for position in changes.delivered { state.queue.remove(position) }
        for one in changes.failedAttempts {
            if one.isDead {
                state.queue.remove(one.item.position)
            } else {
                state.queue.requeue(one.item)
            }
        }
        for one in state.ended {
            if one.item.isEarly {
                if changes.delivered.contains(one.item.position) {
                    // The maximum bounds the attempts at events that are refused for themselves.
                    state.earlyCount = min(
                        state.earlyCount + 2, 2 * configuration.inFlightMax)
                }
                state.queue.requeue(one.item)
            }
            switch one.outcome {
            case .failed(.stopped):
                var later = one.item
                later.next = now.adding(seconds: 1)
                state.queue.requeue(later)
            case .answered(let status, let asked?) where RetrySchedule.pausing.contains(status):
                let seconds = min(asked, RetrySchedule.retryAfterMax)
                state.queue.hold(until: now.adding(seconds: seconds))
            case .answered, .failed: break
            }
        }
        state.ended = []
        state.queue.add(changes.added)
        if let moved = changes.moved { state.next = moved.to }
    }

    private func count(_ changes: DeliveryChanges) {
        for _ in changes.delivered { counts.add("delivered", to: endpoint) }
        for one in changes.failedAttempts { counts.add(one.fault ?? "refused", to: endpoint) }
    }

    // MARK: - New events

    /// Enqueues events up to the capacity, skipping those of other types.
    private func enqueue(
        _ page: [Result<StoredEvent, LogDamage>?], capacity: IntakeCapacity, _ state: inout State,
        into changes: inout DeliveryChanges
    ) {
        var capacity = capacity
        var next = state.next
        var isStopped = false
        for found in page {
            if let found {
                do throws(LogDamage) {
                    let event = try found.get()
                    let item = DeliveryQueue.Item(
                        position: next, event: event.recorded.id,
                        type: event.recorded.event.name.rawValue,
                        accounts: event.recorded.accounts.map(\.id), next: .immediate)
                    guard capacity.admits(item, beside: state.queue) else {
                        isStopped = true
                        break
                    }
                    changes.added.append(item)
                } catch {
                    // A damaged event is not skipped, and no later one is sent before it is repaired.
                    reportDamage(error, &state)
                    isStopped = true
                    break
                }
            }
            next = next.next
        }
        state.hasMore = !isStopped && !page.isEmpty && page.count == capacity.limit
        if next != state.next { changes.moved = (from: state.next, to: next) }
    }

    private func reportDamage(_ damage: LogDamage, _ state: inout State) {
        guard state.reportedDamage != damage.position else { return }
        state.reportedDamage = damage.position
        onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant) is halted: \(damage)")
    }

    // MARK: - Due events

    /// Starts due events.
    private func begin(_ state: inout State) async throws {
        let capacity = configuration.inFlightMax - state.queue.started.count
        var items = state.queue.start(capacity, at: configuration.now())
        items += startEarly(capacity - items.count, &state)
        guard !items.isEmpty else { return }
        let events: [LogPosition: TracedEvent]
        do {
            events = try await store.events(of: endpoint.tenant, at: items.map(\.position))
        } catch {
            for item in items { state.queue.requeue(item) }
            throw error
        }
        let now = configuration.now()
        let secrets = state.secrets.filter { $0.endsAt.map { now < $0 } ?? true }.map(\.secret)
        for item in items {
            guard let body = body(of: item, events[item.position]?.event, &state) else {
                // The log is damaged: the event is read again at the time of a retry.
                var later = item
                later.next = now.adding(seconds: 60)
                state.queue.requeue(later)
                continue
            }
            let request = WebhookRequest(
                url: state.url, id: item.event.description, seconds: now.seconds, body: body,
                secrets: secrets, traceparent: events[item.position]?.trace)
            // After a stop no more is sent, and the next dispatcher sends the event again.
            configuration.start { [configuration, signal, completed = state.completed] in
                let outcome = await configuration.send(request)
                completed.put(Ended(item: item, outcome: outcome))
                signal.raise()
            }
        }
    }

    /// Starts events before their time: one after a while in which the pending ones leave no capacity, and two for
    /// each of these that is accepted, since the receiver has recovered by then.
    private func startEarly(_ countMax: Int, _ state: inout State) -> [DeliveryQueue.Item] {
        let now = configuration.now()
        // A clock that was set back must not delay it.
        let isDue =
            now < state.probedAt
            || now >= state.probedAt.adding(seconds: configuration.probeSeconds)
        if state.isFull, isDue {
            state.probedAt = now
            state.earlyCount = max(1, state.earlyCount)
        }
        var items: [DeliveryQueue.Item] = []
        while state.earlyCount > 0, items.count < countMax {
            guard let item = state.queue.startEarly(at: now) else {
                state.earlyCount = 0
                break
            }
            state.earlyCount -= 1
            items.append(item)
        }
        return items
    }

    private func body(
        of item: DeliveryQueue.Item, _ event: Result<StoredEvent, LogDamage>?,
        _ state: inout State
    ) -> [UInt8]? {
        do throws(LogDamage) {
            guard let event else {
                throw LogDamage(position: item.position, fault: "the event is missing")
            }
            return WebhookBody.bytes(of: try event.get())
        } catch {
            reportDamage(error, &state)
            return nil
        }
    }
}
