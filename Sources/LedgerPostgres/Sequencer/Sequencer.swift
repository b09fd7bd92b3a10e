import Cryptography
package import Ledger
import Synchronization

/// What a sequencer needs to know.
package struct SequencerConfiguration: Sendable {
    /// The runtime role's URL.
    package var url: String
    /// Commands that wait at the most; more are refused as overload.
    package var queueLimit = 4096
    /// How long a command may wait before it is begun; one that has waited longer is refused as overload.
    package var waitMax = AnswerTime.waitMax
    /// Commands in one transaction at the most.
    package var batchLimit = 256
    /// What refuses the schema of another version.
    package var fence = SchemaFence()

    /// Describes a sequencer with the usual limits.
    package init(url: String) {
        self.url = url
    }
}

/// Takes commands in their order of arrival, decides them in batches and answers after the commit.
///
/// One connection, one transaction at a time (group commit). Several processes may each run one on the
/// same database: the tenant's head row orders them. A batch that the database refuses is tried again in
/// halves, so that a poisoned command does not fail its neighbours.
package final class Sequencer: CommandQueue {
    struct Pending: Sendable {
        let command: Command
        let answer: CheckedContinuation<Answer, Never>
    }

    typealias Answer = Result<Result<Reply, Refusal>, LedgerFault>

    /// Batches of at most so many commands are answered before the next one is begun: for these
    /// another thread would cost more than it saves.
    private static let deliveredInPlaceMax = 2

    private let batchLimit: Int
    private let queue: BatchQueue<Pending>
    private let store: any BatchStore
    private let decider: BatchDecider
    private let onCommit: @Sendable ([AppendedEvents]) -> Void
    private let onFault: @Sendable (String) -> Void
    private let measures = SequencerMeasures()
    /// Batches whose answers are on their way.
    private let delivering = Atomic(0)

    /// Makes a sequencer on Postgres; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and limits.
    ///   - policy: the rules of a tenant; nil for a tenant without a configuration.
    ///   - keyring: wraps the keys of new accounts.
    ///   - onCommit: called with what was appended after each commit that did; must not block.
    ///   - onFault: called with one line, free of personal data, for each failed batch.
    package convenience init(
        configuration: SequencerConfiguration,
        policy: @escaping @Sendable (TenantID) -> TenantPolicy?, keyring: WrappingKeyring,
        onCommit: @escaping @Sendable ([AppendedEvents]) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        let decider = BatchDecider(
            policy: policy, random: { [supply = RandomSupply()] in supply.bytes($0) })
        self.init(
            queueLimit: configuration.queueLimit, batchLimit: configuration.batchLimit,
            waitMax: configuration.waitMax,
            store: PostgresBatchStore(
                url: configuration.url, keyring: keyring, fence: configuration.fence,
                signInWindowSeconds: decider.signInWindowSeconds),
            decider: decider, onCommit: onCommit, onFault: onFault)
    }

    /// Makes a sequencer on any store, under any clock.
    init(
        queueLimit: Int, batchLimit: Int, waitMax: Duration = AnswerTime.waitMax,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        store: any BatchStore, decider: BatchDecider,
        onCommit: @escaping @Sendable ([AppendedEvents]) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.batchLimit = batchLimit
        self.store = store
        self.decider = decider
        self.onCommit = onCommit
        self.onFault = onFault
        queue = BatchQueue(limit: queueLimit, waitMax: waitMax, now: now)
    }

    /// How the sequencer is doing.
    package var statistics: SequencerStatistics {
        measures.statistics(queueDepth: queue.depth)
    }

    /// Whether the last batches of some seconds all failed for want of the database.
    ///
    /// It is forgotten after five seconds without a batch: only another one can tell.
    package var isFailing: Bool { measures.isFailing }

    package func submit(_ command: Command) async throws(LedgerFault) -> Result<Reply, Refusal> {
        let answer: Answer = await withCheckedContinuation { continuation in
            if !queue.add(Pending(command: command, answer: continuation)) {
                continuation.resume(returning: .failure(.overloaded))
            }
        }
        return try answer.get()
    }

    /// Works until ``close()`` was called and everything accepted before has been answered.
    package func run() async {
        await withTaskExecutorPreference(store.taskExecutor) {
            await withDiscardingTaskGroup { deliveries in
                while await queue.wait() {
                    await process(queue.take(max: batchLimit), &deliveries)
                }
            }
        }
        await store.close()
    }

    /// Refuses new commands and lets ``run()`` end.
    package func close() {
        queue.close()
    }

    private func process(
        _ sifted: BatchQueue<Pending>.Sifted, _ deliveries: inout DiscardingTaskGroup
    ) async {
        // First: what is not begun has nothing to wait for.
        fail(sifted.late, with: .overloaded, because: "they waited too long to be begun")
        let batch = sifted.batch
        guard !batch.isEmpty else { return }
        let start = ContinuousClock.now
        let commands = batch.map { $0.element.command }
        do throws(BatchFault) {
            let outcome = try await store.transact(BatchKeys(commands)) {
                [decider] loaded throws(BatchFault) in
                try decider.decide(commands, in: loaded)
            }
            measures.committed(
                commands: batch.count,
                events: outcome.recordings.reduce(0) { $0 + $1.recordings.count },
                in: ContinuousClock.now - start)
            // In place only when no earlier batch is still being told: they go out in order.
            if batch.count <= Self.deliveredInPlaceMax, delivering.load(ordering: .acquiring) == 0 {
                return deliver(outcome, to: batch)
            }
            delivering.add(1, ordering: .relaxed)
            // The next batch need not wait until many clients have been told.
            deliveries.addTask(executorPreference: store.deliveryExecutor) {
                self.deliver(outcome, to: batch)
                self.delivering.subtract(1, ordering: .releasing)
            }
        } catch {
            await recover(batch, from: error, &deliveries)
        }
    }

    private func deliver(_ outcome: BatchOutcome, to batch: [Queued<Pending>]) {
        if !outcome.recordings.isEmpty { onCommit(outcome.recordings.map(AppendedEvents.init)) }
        for (pending, answer) in zip(batch, outcome.answers) {
            if case .failure(let fault) = answer {
                fail(
                    [pending], with: fault, because: "\(BatchFault.damaged("an account's key"))")
            } else {
                pending.element.answer.resume(returning: answer)
            }
        }
    }

    private func recover(
        _ batch: [Queued<Pending>], from fault: BatchFault, _ deliveries: inout DiscardingTaskGroup
    ) async {
        guard fault.isOfOneCommand else {
            measures.refused()
            return fail(batch, with: .unavailable, because: fault.news)
        }
        guard batch.count > 1 else {
            return fail(batch, with: .internalFailure, because: "\(fault)")
        }
        // Halves and halves of halves: one poisoned command costs a few more transactions, not one
        // for each of its neighbours. A refused batch has done nothing, so what has become late over it
        // may still be refused.
        measures.split()
        let middle = batch.count / 2
        await process(queue.sift(Array(batch[..<middle])), &deliveries)
        await process(queue.sift(Array(batch[middle...])), &deliveries)
    }

    /// Without a reason there is nothing to be said that was not said before.
    private func fail(
        _ batch: [Queued<Pending>], with fault: LedgerFault, because reason: String?
    ) {
        guard !batch.isEmpty else { return }
        measures.failed(commands: batch.count)
        if let reason { onFault("\(batch.count) commands failed: \(reason)") }
        for pending in batch {
            pending.element.answer.resume(returning: .failure(fault))
        }
    }
}
