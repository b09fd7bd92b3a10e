package import Ledger
import Synchronization

/// Accepts commands in order of arrival, decides them in batches and answers after the commit.
///
/// One connection, one transaction at a time (group commit); on Citus several for each node. Several
/// processes may each run one on the same database: the tenant's head row orders them. A batch that
/// the database refuses is retried in halves, so that a poisoned command does not fail its neighbours.
package final class Sequencer: CommandQueue {
    struct Pending: Sendable {
        let command: Command
        let answer: @Sendable (Answer) -> Void
    }

    /// The answer to a command, or the fault that prevented one.
    package typealias Answer = Result<Result<Reply, Refusal>, LedgerFault>

    /// The largest batch that is answered before the next one starts: for a few answers another
    /// thread would cost more than it saves.
    private static let inlineDeliveryMax = 2

    /// Commands that wait for one connection.
    private struct Lane: Sendable {
        let queue: BatchQueue<Pending>
        let store: any BatchStore
    }

    private let batchLimit: Int
    private let lanes: Lanes<Lane>
    private let laneOf: (@Sendable (TenantID) -> Int)?
    private let decider: BatchDecider
    private let onCommit: @Sendable ([TenantRecordings]) -> Void
    private let onFault: @Sendable (String) -> Void
    private let counters = SequencerCounters()
    /// The tenants whose rules differ from the configuration, each reported once until they are equal again.
    private let differing = Mutex<Set<TenantID>>([])
    /// The number of batches whose answers are being delivered.
    private let delivering = Atomic(0)

    /// Creates a sequencer, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - queueLimit: The maximum number of waiting commands; more are refused as overload.
    ///   - batchLimit: The maximum number of commands in one transaction.
    ///   - waitMax: The maximum wait of a command before it starts.
    ///   - now: The clock of the waits.
    ///   - laneOf: Returns the lane of a tenant's commands; nil for one lane.
    ///   - store: Makes the store of a lane, which executes its batches.
    ///   - decider: Decides the commands of a batch.
    ///   - onCommit: Called with the appended events after each commit that has any; must not block.
    ///   - onFault: Called with one line, free of personal data, for each failed batch.
    package init(
        queueLimit: Int, batchLimit: Int, waitMax: Duration = AnswerTime.waitMax,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        laneOf: (@Sendable (TenantID) -> Int)? = nil,
        store: @escaping @Sendable @autoclosure () -> any BatchStore, decider: BatchDecider,
        onCommit: @escaping @Sendable ([TenantRecordings]) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.batchLimit = batchLimit
        self.laneOf = laneOf
        self.decider = decider
        self.onCommit = onCommit
        self.onFault = onFault
        lanes = Lanes {
            Lane(
                queue: BatchQueue(limit: queueLimit, waitMax: waitMax, now: now), store: store())
        } close: {
            $0.queue.close()
        }
    }

    /// The current statistics of the sequencer.
    package var statistics: SequencerStatistics {
        counters.statistics(queueDepth: lanes.all.reduce(0) { $0 + $1.queue.depth })
    }

    /// Whether all batches of the last seconds failed because of the database.
    ///
    /// Reset after five seconds without a batch: only another batch can show the current state.
    package var isFailing: Bool { counters.isFailing }

    package func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
        let answer: Answer = await withCheckedContinuation { continuation in
            let pending = Pending(command: command) { continuation.resume(returning: $0) }
            if !queue(of: command.tenant).add(pending) {
                continuation.resume(returning: .failure(.overloaded))
            }
        }
        return try answer.get()
    }

    /// Submits commands in their order, without waiting for their answers.
    ///
    /// - Parameters:
    ///   - commands: The commands.
    ///   - answered: Called with the answers, in the same order, once there are all.
    package func submit(
        _ commands: [Command], answered: @escaping @Sendable ([Answer]) -> Void
    ) {
        guard !commands.isEmpty else { return answered([]) }
        let answers = GroupAnswers(count: commands.count, answered)
        let all = commands.enumerated().map { index, command in
            Pending(command: command) { answers.set($0, at: index) }
        }
        // Together where one lane has them all: a sequencer without work would start with the first one alone.
        guard laneOf != nil else {
            for index in lanes.first.queue.add(contentsOf: all)..<all.count {
                answers.set(.failure(.overloaded), at: index)
            }
            return
        }
        for (index, pending) in all.enumerated()
        where !queue(of: pending.command.tenant).add(pending) {
            answers.set(.failure(.overloaded), at: index)
        }
    }

    /// Processes commands until ``close()`` was called and all accepted commands are answered.
    package func run() async {
        guard laneOf != nil else { return await run(lanes.first) }
        await lanes.run { await self.run($0) }
    }

    /// Refuses new commands and lets ``run()`` end.
    package func close() {
        lanes.closeAll()
    }

    private func queue(of tenant: TenantID) -> BatchQueue<Pending> {
        lanes.lane(laneOf?(tenant) ?? 0).queue
    }

    private func run(_ lane: Lane) async {
        await withTaskExecutorPreference(lane.store.taskExecutor) {
            await withDiscardingTaskGroup { deliveries in
                while await lane.queue.wait() {
                    // On Citus what arrives for a tenant until its turn comes shares its transaction.
                    let dequeued = lane.queue.take(
                        max: batchLimit,
                        alike: lane.store.takesOneTenant
                            ? { $0.command.tenant == $1.command.tenant } : nil)
                    await process(dequeued, in: lane, &deliveries)
                }
            }
        }
        await lane.store.close()
    }

    private func process(
        _ dequeued: BatchQueue<Pending>.Dequeued, in lane: Lane,
        _ deliveries: inout DiscardingTaskGroup
    ) async {
        // First, because commands that are not started have nothing to wait for.
        fail(dequeued.late, with: .overloaded, because: "they waited too long")
        let batch = dequeued.batch
        guard !batch.isEmpty else { return }
        let start = ContinuousClock.now
        let commands = batch.map { $0.element.command }
        do throws(BatchFault) {
            let outcome = try await lane.store.transact(BatchKeys(commands)) {
                [decider] loaded, part throws(BatchFault) in
                try decider.decide(
                    Array(commands[part]), in: loaded, isLast: part.upperBound == commands.count)
            }
            counters.committed(
                commands: batch.count,
                events: outcome.recordings.reduce(0) { $0 + $1.recordings.count },
                in: ContinuousClock.now - start)
            // In place only if no earlier batch is still being answered: answers are delivered in
            // order.
            if batch.count <= Self.inlineDeliveryMax, delivering.load(ordering: .acquiring) == 0 {
                return deliver(outcome, to: batch)
            }
            delivering.add(1, ordering: .relaxed)
            // The next batch need not wait until all clients have their answers.
            deliveries.addTask(executorPreference: lane.store.deliveryExecutor) {
                self.deliver(outcome, to: batch)
                self.delivering.subtract(1, ordering: .releasing)
            }
        } catch {
            await recover(batch, from: error, since: start, in: lane, &deliveries)
        }
    }

    /// Returns the commands of each tenant in their order, the tenants in the order of their first commands.
    private static func byTenant(_ batch: [Queued<Pending>]) -> [[Queued<Pending>]] {
        var parts: [[Queued<Pending>]] = []
        var places: [TenantID: Int] = [:]
        for pending in batch {
            let tenant = pending.element.command.tenant
            let place = places[tenant] ?? parts.count
            if place == parts.count {
                places[tenant] = place
                parts.append([])
            }
            parts[place].append(pending)
        }
        return parts
    }

    private func deliver(_ outcome: BatchOutcome, to batch: [Queued<Pending>]) {
        if !outcome.recordings.isEmpty { onCommit(outcome.recordings) }
        for (pending, answer) in zip(batch, outcome.answers) {
            let command = pending.element.command
            if case .failure(let fault) = answer {
                fail([pending], with: fault, because: reason(of: fault, in: command.tenant))
            } else {
                if command.intent.needsConfiguredRules {
                    differing.withLock { _ = $0.remove(command.tenant) }
                }
                pending.element.answer(answer)
            }
        }
    }

    /// Returns the reason to log for a fault of a single command; nil if it was logged before.
    private func reason(of fault: LedgerFault, in tenant: TenantID) -> String? {
        guard fault == .rulesDiffer else { return "\(BatchFault.damaged("an account's key"))" }
        return differing.withLock({ $0.insert(tenant).inserted })
            ? "the rules of tenant \(tenant) are not those of the configuration" : nil
    }

    private func recover(
        _ batch: [Queued<Pending>], from fault: BatchFault, since start: ContinuousClock.Instant,
        in lane: Lane, _ deliveries: inout DiscardingTaskGroup
    ) async {
        if case .tenantMoved = fault {
            return await refuseMoved(batch, fault, in: lane, &deliveries)
        }
        guard fault.isOfOneCommand else {
            counters.refused(since: start)
            return fail(batch, with: .unavailable, because: fault.logText)
        }
        guard batch.count > 1 else {
            return fail(batch, with: .internalFailure, because: "\(fault)")
        }
        // Repeated halving: one poisoned command costs a few more transactions instead of one per
        // neighbour. A refused batch has changed nothing, so commands that became late meanwhile
        // may still be refused.
        counters.split()
        let middle = batch.count / 2
        for half in [batch[..<middle], batch[middle...]] {
            await process(lane.queue.separatingLate(Array(half)), in: lane, &deliveries)
        }
    }

    /// Refuses the commands of a tenant that is moved; those of other tenants are processed without them.
    private func refuseMoved(
        _ batch: [Queued<Pending>], _ fault: BatchFault, in lane: Lane,
        _ deliveries: inout DiscardingTaskGroup
    ) async {
        let parts = Self.byTenant(batch)
        guard parts.count > 1 else {
            return fail(batch, with: .tenantMoved, because: fault.logText)
        }
        counters.split()
        for part in parts {
            await process(lane.queue.separatingLate(part), in: lane, &deliveries)
        }
    }

    /// Logs nothing without a reason: the fault was logged before.
    private func fail(
        _ batch: [Queued<Pending>], with fault: LedgerFault, because reason: String?
    ) {
        guard !batch.isEmpty else { return }
        counters.failed(commands: batch.count)
        if let reason { onFault("\(batch.count) commands failed: \(reason)") }
        for pending in batch {
            pending.element.answer(.failure(fault))
        }
    }
}
