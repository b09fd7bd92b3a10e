package import Ledger
import Postgres

/// Reads of `user_providers`, coalesced: reads that wait together are one query.
///
/// Nothing is cached, so a commit of any process is seen. One query reads the caller's session, the
/// account's last position and the projection's checkpoint; while the projection is behind that
/// position, the read is asked again, up to a limit.
package final class AccountReads: AccountReader {
    struct Pending: Sendable {
        let tenant: TenantID
        let caller: Caller
        let answer: CheckedContinuation<Result<Answer, LedgerFault>, Never>
    }

    enum Answer: Sendable {
        case identities([LinkedIdentity])
        case sessionEnded
        /// The projection has not folded the account's last event yet.
        case behind
        /// A row of the account holds what no version of this program wrote.
        case damaged
    }

    /// Reads in one query at the most.
    private static let batchLimit = 256
    /// Reads of at most so many at once are answered before the next ones are begun.
    private static let deliveredInPlaceMax = 2
    /// How long a read waits for the projection; part of the time that it may wait before it is begun.
    private static let patience = Duration.seconds(3)
    /// How soon a read that waits for the projection is asked again when nobody says that it has
    /// moved, as when another process folds.
    private static let pause = Duration.milliseconds(20)

    private let queue: BatchQueue<Pending>
    private let advances: AdvanceSignal
    private let session: Postgres.Session
    private let fence: SchemaFence
    private let delivery = BlockingExecutor(label: "account-ledger reads")
    private let onBehind: @Sendable () -> Void
    private let onFault: @Sendable (String) -> Void

    /// Makes a reader; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - queueLimit: reads that wait at the most; more are refused as overload.
    ///   - fence: refuses the schema of another version.
    ///   - advances: to be raised after each commit that moved the checkpoint of `user_providers`:
    ///     reads that wait for the projection ask again then.
    ///   - onBehind: called when a read has to wait for the projection; must not block.
    ///   - onFault: called with one line, free of personal data, for each failed query.
    package init(
        url: String, queueLimit: Int = 4096, fence: SchemaFence = SchemaFence(),
        advances: AdvanceSignal = AdvanceSignal(),
        onBehind: @escaping @Sendable () -> Void = {},
        onFault: @escaping @Sendable (String) -> Void
    ) {
        queue = BatchQueue(limit: queueLimit)
        self.fence = fence
        self.advances = advances
        self.onBehind = onBehind
        self.onFault = onFault
        session = Postgres.Session(
            url: url, applicationName: "account-ledger reader", connectTimeout: .seconds(2),
            runDeadline: AnswerTime.transactionMax
        ) { try $0.execute(PostgresBatchStore.settings) }
    }

    package func identities(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<[LinkedIdentity], Refusal> {
        let start = ContinuousClock.now
        while true {
            let seen = advances.count
            let answer = await withCheckedContinuation { continuation in
                let pending = Pending(tenant: tenant, caller: caller, answer: continuation)
                if !queue.add(pending, since: start) {
                    continuation.resume(returning: .failure(.overloaded))
                }
            }
            switch try answer.get() {
            case .identities(let identities): return .success(identities)
            case .sessionEnded: return .failure(.sessionEnded)
            case .damaged:
                onFault("a row of user_providers is unreadable")
                throw .internalFailure
            case .behind:
                guard ContinuousClock.now - start < Self.patience else { throw .unavailable }
                onBehind()
                await advances.wait(since: seen, atMost: Self.pause)
            }
        }
    }

    /// Works until ``close()`` was called and everything accepted before has been answered.
    package func run() async {
        await withTaskExecutorPreference(session.taskExecutor) {
            await withDiscardingTaskGroup { deliveries in
                while await queue.wait() {
                    await answer(queue.take(max: Self.batchLimit), &deliveries)
                }
            }
        }
        await session.close()
    }

    /// Refuses new reads and lets ``run()`` end.
    package func close() {
        queue.close()
    }

    private func answer(
        _ sifted: BatchQueue<Pending>.Sifted, _ deliveries: inout DiscardingTaskGroup
    ) async {
        fail(sifted.late, with: .overloaded, because: "they waited too long to be begun")
        let batch = sifted.batch
        guard !batch.isEmpty else { return }
        let answers: [Answer]
        do {
            answers = try await session.run { [fence] in
                try AccountQuery.answers(to: batch.map(\.element), behind: fence, on: $0)
            }
        } catch {
            return fail(batch, with: .unavailable, because: SchemaFence.news(of: error))
        }
        guard batch.count > Self.deliveredInPlaceMax else { return deliver(answers, to: batch) }
        // The next query need not wait until many clients have been told.
        deliveries.addTask(executorPreference: delivery) { self.deliver(answers, to: batch) }
    }

    private func deliver(_ answers: [Answer], to batch: [Queued<Pending>]) {
        for (pending, answer) in zip(batch, answers) {
            pending.element.answer.resume(returning: .success(answer))
        }
    }

    /// Without a reason there is nothing to be said that was not said before.
    private func fail(
        _ batch: [Queued<Pending>], with fault: LedgerFault, because reason: String?
    ) {
        guard !batch.isEmpty else { return }
        if let reason { onFault("\(batch.count) reads failed: \(reason)") }
        for pending in batch {
            pending.element.answer.resume(returning: .failure(fault))
        }
    }
}
