internal import BlockingCalls
package import Ledger
import LedgerEngine
import Postgres

/// Reads of `user_providers`; waiting reads are combined into one query.
///
/// Nothing is cached, so a commit of any process is seen. One query reads the caller's session, the
/// account's last position and the projection's checkpoint; while the projection is behind that
/// position, the read is retried, up to a limit.
package final class AccountReads: AccountReader {
    struct Pending: Sendable {
        let tenant: TenantID
        let caller: Caller
        let answer: CheckedContinuation<Result<Answer, LedgerFault>, Never>
    }

    enum Answer: Sendable {
        case account(LinkedAccount)
        case sessionEnded
        /// The projection has not folded the account's last event yet; nil without a checkpoint.
        case behind(LogPosition?)
        /// A row of the account that no version of this program wrote.
        case damaged
    }

    /// The maximum number of reads in one query.
    private static let batchLimit = 256
    /// The largest batch of reads that is answered before the next query starts.
    private static let inlineDeliveryMax = 2
    /// The maximum wait for the projection; part of the limit on the wait before a read starts.
    private static let patience = Duration.seconds(3)
    /// The interval between retries of a read that waits for the projection, if no signal arrives
    /// first, as when another process folds.
    private static let pause = Duration.milliseconds(20)

    private typealias Lane = SessionLane<Pending>

    private let lanes: Lanes<Lane>
    private let nodes: TenantNodes?
    private let advances: AdvanceSignal
    private let query = AccountQuery()
    private let fence: SchemaFence
    private let delivery = BlockingExecutor(label: "account-ledger reads")
    private let onBehind: @Sendable (TenantID, LogPosition?) -> Void
    private let onFault: @Sendable (String) -> Void

    /// Creates a reader, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - queueLimit: The maximum number of waiting reads; more are refused as overload.
    ///   - fence: Refuses a schema of another version.
    ///   - nodes: The nodes of the tenants on Citus; nil on Postgres alone.
    ///   - advances: Raised after each commit that moved the checkpoint of `user_providers`: reads
    ///     that wait for the projection are retried then.
    ///   - onBehind: Called when a read has to wait for the projection of a tenant, with its checkpoint, nil
    ///     without one; must not block.
    ///   - onFault: Called with one line, free of personal data, for each failed query.
    package init(
        url: String, queueLimit: Int = 4096, fence: SchemaFence = SchemaFence(),
        nodes: TenantNodes? = nil, advances: AdvanceSignal = AdvanceSignal(),
        onBehind: @escaping @Sendable (TenantID, LogPosition?) -> Void = { _, _ in },
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.nodes = nodes
        self.fence = fence
        self.advances = advances
        self.onBehind = onBehind
        self.onFault = onFault
        lanes = Lanes {
            Lane(url: url, named: "account-ledger reader", queueLimit: queueLimit)
        } close: {
            $0.queue.close()
        }
    }

    /// Returns the account of a caller with its identities, and whether support planned to remove second factors.
    package func linkedAccount(
        of caller: Caller, in tenant: TenantID
    ) async throws(LedgerFault) -> Result<LinkedAccount, Refusal> {
        let start = ContinuousClock.now
        while true {
            let seen = advances.count
            let answer = await withCheckedContinuation { continuation in
                let pending = Pending(tenant: tenant, caller: caller, answer: continuation)
                if !lanes.lane(nodes?.lane(of: tenant) ?? 0).queue.add(pending, since: start) {
                    continuation.resume(returning: .failure(.overloaded))
                }
            }
            switch try answer.get() {
            case .account(let account): return .success(account)
            case .sessionEnded: return .failure(.sessionEnded)
            case .damaged:
                onFault("a row of user_providers is unreadable")
                throw .internalFailure
            case .behind(let checkpoint):
                guard ContinuousClock.now - start < Self.patience else { throw .unavailable }
                onBehind(tenant, checkpoint)
                await advances.wait(since: seen, atMost: Self.pause)
            }
        }
    }

    /// Works until ``close()`` was called and all accepted reads are answered.
    package func run() async {
        await lanes.run { await self.run($0) }
    }

    /// Refuses new reads and lets ``run()`` end.
    package func close() {
        lanes.closeAll()
    }

    private func run(_ lane: Lane) async {
        await withTaskExecutorPreference(lane.session.taskExecutor) {
            await withDiscardingTaskGroup { deliveries in
                while await lane.queue.wait() {
                    await answer(lane.queue.take(max: Self.batchLimit), in: lane, &deliveries)
                }
            }
        }
        await lane.session.close()
    }

    private func answer(
        _ dequeued: BatchQueue<Pending>.Dequeued, in lane: Lane,
        _ deliveries: inout DiscardingTaskGroup
    ) async {
        fail(dequeued.late, with: .overloaded, because: "they waited too long")
        let batch = dequeued.batch
        guard !batch.isEmpty else { return }
        if let parts = lane.parts(of: batch, by: { $0.tenant }) {
            for part in parts { await answer(part, in: lane, &deliveries) }
            return
        }
        let answers: [Answer]
        do {
            answers = try await lane.run(of: batch.first?.element.tenant, noting: nodes) {
                [query, fence] in
                try query.answers(to: batch.map(\.element), behind: fence, on: $0)
            }
        } catch {
            return fail(batch, with: .unavailable, because: OtherSchema.logText(of: error))
        }
        guard batch.count > Self.inlineDeliveryMax else { return deliver(answers, to: batch) }
        // The next query need not wait until all clients have their answers.
        deliveries.addTask(executorPreference: delivery) { self.deliver(answers, to: batch) }
    }

    private func deliver(_ answers: [Answer], to batch: [Queued<Pending>]) {
        for (pending, answer) in zip(batch, answers) {
            pending.element.answer.resume(returning: .success(answer))
        }
    }

    /// Logs nothing without a reason: the fault was logged before.
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
