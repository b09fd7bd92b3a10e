package import Ledger
import Postgres

/// What a sequencer needs to know.
package struct SequencerConfiguration: Sendable {
    /// The runtime role's URL.
    package var url: String
    /// Commands that wait at the most; more are refused as overload.
    package var queueLimit = 4096
    /// Commands in one transaction at the most.
    package var batchLimit = 256

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

    private let configuration: SequencerConfiguration
    private let queue: BatchQueue<Pending>
    private let session: Postgres.Session
    private let decider: BatchDecider
    private let onCommit: @Sendable () -> Void
    private let onFault: @Sendable (String) -> Void
    private let measures = SequencerMeasures()

    /// Makes a sequencer; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and limits.
    ///   - policy: the rules of a tenant; nil for a tenant without a configuration.
    ///   - keyring: wraps the keys of new accounts.
    ///   - onCommit: called after each commit that appended; must not block.
    ///   - onFault: called with one line, free of personal data, for each failed batch.
    package init(
        configuration: SequencerConfiguration,
        policy: @escaping @Sendable (TenantID) -> TenantPolicy?, keyring: WrappingKeyring,
        onCommit: @escaping @Sendable () -> Void, onFault: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.onCommit = onCommit
        self.onFault = onFault
        queue = BatchQueue(limit: configuration.queueLimit)
        decider = BatchDecider(policy: policy, keyring: keyring)
        session = Postgres.Session(
            url: configuration.url, applicationName: "account-ledger sequencer",
            statementDeadline: .seconds(8)
        ) { try $0.execute(Self.settings) }
    }

    /// A frozen process must not hold a tenant, and every statement is a lookup of few keys.
    ///
    /// A plan made while a table is young stays when it has grown, so the statements leave the planner
    /// no choice: no scans, no joins of whole tables, and each key looked up by itself
    /// (`LATERAL ... OFFSET 0` is not flattened into a join that could be turned around).
    static let settings = """
        SET idle_in_transaction_session_timeout = '2s';
        SET lock_timeout = '5s';
        SET statement_timeout = '5s';
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off;
        SET enable_hashjoin = off;
        SET enable_mergejoin = off;
        SET enable_memoize = off;
        SET jit = off;
        SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') IN ('off', 'local');
        """

    /// How the sequencer is doing.
    package var statistics: SequencerStatistics {
        measures.statistics(queueDepth: queue.depth)
    }

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
        while await queue.wait() {
            do {
                // Stays on the connection's thread while commands keep coming.
                try await session.run { connection in
                    while true {
                        let batch = self.queue.take(max: self.configuration.batchLimit)
                        if batch.isEmpty { return }
                        self.process(batch, on: connection)
                        guard connection.isUsable else { return }
                    }
                }
            } catch {
                fail(queue.take(max: configuration.queueLimit), with: .unavailable, because: error)
            }
        }
        await session.close()
    }

    /// Refuses new commands and lets ``run()`` end.
    package func close() {
        queue.close()
    }

    private func process(_ batch: [Pending], on connection: Connection) {
        let start = ContinuousClock.now
        do throws(BatchFault) {
            let results = try decider.carryOut(batch.map(\.command), on: connection)
            measures.committed(
                commands: batch.count, events: results.eventCount, in: ContinuousClock.now - start)
            if results.eventCount > 0 { onCommit() }
            for (pending, answer) in zip(batch, results.answers) {
                if case .failure(let fault) = answer {
                    fail([pending], with: fault, because: BatchFault.damaged("an account's key"))
                } else {
                    pending.answer.resume(returning: answer)
                }
            }
        } catch {
            recover(batch, from: error, on: connection)
        }
    }

    private func recover(_ batch: [Pending], from fault: BatchFault, on connection: Connection) {
        connection.rollBack()
        guard fault.isOfOneCommand else {
            return fail(batch, with: .unavailable, because: fault)
        }
        guard batch.count > 1 else {
            return fail(batch, with: .internalFailure, because: fault)
        }
        // Halves and halves of halves: one poisoned command costs a few more transactions, not one
        // for each of its neighbours.
        measures.split()
        let middle = batch.count / 2
        for half in [Array(batch[..<middle]), Array(batch[middle...])] {
            if connection.isUsable {
                process(half, on: connection)
            } else {
                fail(half, with: .unavailable, because: fault)
            }
        }
    }

    private func fail(
        _ batch: [Pending], with fault: LedgerFault, because error: any Error
    ) {
        guard !batch.isEmpty else { return }
        measures.failed(commands: batch.count)
        onFault("\(batch.count) commands failed: \(error)")
        for pending in batch {
            pending.answer.resume(returning: .failure(fault))
        }
    }
}

/// Why a batch was not carried out.
enum BatchFault: Error, CustomStringConvertible {
    case postgres(PostgresError)
    /// The model contradicts itself: what it decided cannot follow on the state.
    case fold(FoldFault)
    /// What the database holds cannot be read; says where.
    case damaged(String)

    var description: String {
        switch self {
        case .postgres(let error): error.description
        case .fold(let fault): "decided what cannot follow: \(fault)"
        case .damaged(let place): "unreadable: \(place)"
        }
    }

    /// Whether the fault may be one command's, so that the others deserve a try of their own.
    ///
    /// Not when the outcome is unknown, nor when the database has no time or room for anybody.
    var isOfOneCommand: Bool {
        switch self {
        case .fold, .damaged, .postgres(.unexpectedResult): true
        case .postgres(.connectionFailed), .postgres(.connectionLost), .postgres(.timedOut): false
        case .postgres(.server(let error)):
            switch error.state {
            case .lockNotAvailable, .idleInTransactionTimeout, .readOnlyTransaction: false
            default: !["08", "40", "53", "57", "58"].contains(error.state.conditionClass)
            }
        }
    }
}
