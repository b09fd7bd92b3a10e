import Cryptography
import Ledger
import Synchronization

/// Delivers to one endpoint for as long as its lease is held and nothing about it changes.
///
/// What ended is written before anything else begins: a crash sends again at most what was under way.
struct WebhookDelivering: Sendable {
    let endpoint: LeasedWebhook
    let store: DispatcherStore
    let configuration: WebhookConfiguration
    let signal: WakeSignal
    let counts: WebhookCounts
    let onFault: @Sendable (String) -> Void

    /// An attempt that has ended.
    private struct Ended: Sendable {
        let item: DeliveryQueue.Item
        let outcome: WebhookOutcome
    }

    /// Where attempts that have ended are put, from any thread.
    private final class Mailbox: Sendable {
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

    /// What is known between two looks.
    private struct State {
        let url: String
        let types: [String]
        let revision: Int64
        let secrets: [HeldSecret]
        var next: LogPosition
        var queue: DeliveryQueue
        /// What has ended and is not written yet.
        var ended: [Ended] = []
        /// Whether the rows changed under it: what is under way is waited for, and nothing more begins.
        var isLeaving = false
        /// Whether the page that was read last was full.
        var hasMore = false
        /// The damaged event that was complained of.
        var complained: LogPosition?
        var renewedAt = ContinuousClock.now
        var backoff = Duration.zero
    }

    /// Works until the task is cancelled, the endpoint changes or the lease is lost.
    ///
    /// - Throws: `DispatcherFault`, or `PostgresError` when the endpoint cannot be taken up.
    func run() async throws {
        let loaded = try await store.load(endpoint)
        var state = State(
            url: loaded.standing.url, types: loaded.standing.types,
            revision: loaded.standing.revision, secrets: loaded.secrets,
            next: loaded.standing.next,
            queue: DeliveryQueue(pauseMax: configuration.retries.pauseMax))
        state.queue.add(loaded.items)
        let mailbox = Mailbox()
        while !Task.isCancelled {
            state.ended += mailbox.take()
            do {
                guard try await step(&state, mailbox) else { break }
                state.backoff = .zero
            } catch let fault as DispatcherFault {
                // A lease that is still its own would keep everybody waiting until it lapses.
                await store.release(endpoint)
                throw fault
            } catch {
                onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant): \(error)")
                state.backoff = min(max(state.backoff * 2, .milliseconds(50)), .seconds(2))
                _ = try? await Task.sleep(for: state.backoff)
                continue
            }
            if !state.hasMore { await signal.wait(atMost: pause(state)) }
        }
        // What was cancelled cannot wait, and what has been answered must not be sent again.
        await Task { [state] in await sayFarewell(state, mailbox) }.value
    }

    /// Waits a little for what is under way, writes what has ended, and lets the endpoint go.
    private func sayFarewell(_ state: State, _ mailbox: Mailbox) async {
        var ended = state.ended + mailbox.take()
        let end = ContinuousClock.now + configuration.farewell
        while ended.count < state.queue.started.count, ContinuousClock.now < end {
            await signal.wait(atMost: end - ContinuousClock.now)
            ended += mailbox.take()
        }
        var changes = DeliveryChanges()
        settle(ended, at: configuration.now(), into: &changes)
        do {
            if !changes.isEmpty { try await store.write(changes, of: endpoint) }
            count(changes)
        } catch {
            // It is sent again.
        }
        await store.release(endpoint)
    }

    /// Writes what has ended, takes in what was appended and begins what is due; false when it is over.
    private func step(_ state: inout State, _ mailbox: Mailbox) async throws -> Bool {
        state.hasMore = false
        let room = IntakeRoom(beside: state.queue, configuration)
        let look = try await store.look(
            at: endpoint, from: state.next, limit: state.isLeaving ? 0 : room.limit,
            types: state.types)
        // A cursor that is elsewhere: a transaction was committed whose answer was lost.
        guard let standing = look.standing, standing.isHeld, standing.next == state.next else {
            throw DispatcherFault.notHeld
        }
        if !standing.isEnabled || standing.revision != state.revision { state.isLeaving = true }

        let now = configuration.now()
        var changes = DeliveryChanges()
        settle(state.ended, at: now, into: &changes)
        if !state.isLeaving {
            if look.isGap {
                complain(LogDamage(position: state.next, fault: "the event is missing"), &state)
            }
            takeIn(look.page, room: room, &state, into: &changes)
        }
        let isRenewed = ContinuousClock.now - state.renewedAt >= configuration.renewal
        if !changes.isEmpty || isRenewed {
            try await store.write(changes, of: endpoint)
            state.renewedAt = .now
        }
        apply(changes, at: now, to: &state)
        if changes.isGone { state.isLeaving = true }
        guard !state.isLeaving else { return !state.queue.started.isEmpty }
        try await begin(&state, mailbox)
        return true
    }

    /// How long to wait when nobody wakes it.
    private func pause(_ state: State) -> Duration {
        let now = configuration.now()
        guard !state.isLeaving,
            let next = state.queue.next(configuration.inFlightMax, at: now)
        else { return configuration.poll }
        let wait = next.microseconds - now.microseconds
        return min(configuration.poll, .microseconds(max(0, wait)))
    }

    // MARK: - What has ended

    private func settle(
        _ ended: [Ended], at now: Timestamp, into changes: inout DeliveryChanges
    ) {
        for one in ended {
            var item = one.item
            switch one.outcome {
            case .answered(let status, _) where (200..<300).contains(status):
                changes.delivered.append(item.position)
            case .failed(.stopped):
                break
            case .answered(let status, let asked):
                item.attempts += 1
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
        changes.notTaken.append(
            DeliveryChanges.NotTaken(
                item: item, isDead: isDead, attemptedAt: now, status: status, fault: fault))
    }

    /// Takes over what was written; until then an account's next event waits.
    private func apply(_ changes: DeliveryChanges, at now: Timestamp, to state: inout State) {
        count(changes)
        for position in changes.delivered { state.queue.remove(position) }
        for one in changes.notTaken {
            if one.isDead {
                state.queue.remove(one.item.position)
            } else {
                state.queue.putBack(one.item)
            }
        }
        for one in state.ended {
            switch one.outcome {
            case .failed(.stopped):
                var later = one.item
                later.next = now.adding(seconds: 1)
                state.queue.putBack(later)
            case .answered(let status, let asked?) where status == 429 || status == 503:
                let seconds = min(asked, RetryPlan.askedMax)
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
        for one in changes.notTaken { counts.add(one.fault ?? "refused", to: endpoint) }
    }

    // MARK: - What was appended

    /// Takes in events until there is no more room, passing over those of other types.
    private func takeIn(
        _ page: [Result<StoredEvent, LogDamage>?], room: IntakeRoom, _ state: inout State,
        into changes: inout DeliveryChanges
    ) {
        var room = room
        var next = state.next
        var isStopped = false
        for found in page {
            if let found {
                do throws(LogDamage) {
                    let event = try found.get()
                    let item = DeliveryQueue.Item(
                        position: next, event: event.recorded.id,
                        type: event.recorded.event.name.rawValue,
                        accounts: event.recorded.accounts.map(\.id), next: .atOnce)
                    guard room.takes(item, beside: state.queue) else {
                        isStopped = true
                        break
                    }
                    changes.added.append(item)
                } catch {
                    // Nothing is skipped, and nothing behind it is sent before it is put right.
                    complain(error, &state)
                    isStopped = true
                    break
                }
            }
            next = next.next
        }
        state.hasMore = !isStopped && !page.isEmpty && page.count == room.limit
        if next != state.next { changes.moved = (from: state.next, to: next) }
    }

    private func complain(_ damage: LogDamage, _ state: inout State) {
        guard state.complained != damage.position else { return }
        state.complained = damage.position
        onFault("webhook \(endpoint.id) of tenant \(endpoint.tenant) stands still: \(damage)")
    }

    // MARK: - What is due

    /// Begins what is due.
    private func begin(_ state: inout State, _ mailbox: Mailbox) async throws {
        let room = configuration.inFlightMax - state.queue.started.count
        let items = state.queue.start(room, at: configuration.now())
        guard !items.isEmpty else { return }
        let events: [LogPosition: Result<StoredEvent, LogDamage>]
        do {
            events = try await store.events(of: endpoint.tenant, at: items.map(\.position))
        } catch {
            for item in items { state.queue.putBack(item) }
            throw error
        }
        let now = configuration.now()
        let secrets = state.secrets.filter { $0.endsAt.map { now < $0 } ?? true }.map(\.secret)
        for item in items {
            guard let body = body(of: item, events[item.position], &state) else {
                // The log is damaged: it is looked at again when it would have been tried again.
                var later = item
                later.next = now.adding(seconds: 60)
                state.queue.putBack(later)
                continue
            }
            let request = WebhookRequest(
                url: state.url, id: item.event.description, seconds: now.seconds, body: body,
                secrets: secrets)
            // Nobody waits for it: whoever stops sends no more, and who comes next sends it again.
            Task { [configuration, signal] in
                let outcome = await configuration.send(request)
                mailbox.put(Ended(item: item, outcome: outcome))
                signal.raise()
            }
        }
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
            complain(error, &state)
            return nil
        }
    }
}
