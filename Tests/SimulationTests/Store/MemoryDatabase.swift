import Ledger
import Synchronization

@testable import LedgerEngine

/// A committed batch: the oracle replays these in the order of the commits.
struct CommittedBatch: Sendable {
    /// The process that decided it.
    let process: Int
    /// The commands, as indexes in that process's order of arrival.
    let arrivals: Range<Int>
    /// The time by which it was decided.
    let now: Timestamp
    /// The previous head position of each locked tenant.
    let firstPositions: [TenantID: LogPosition]
}

/// The rows that a batch's transaction has locked and read.
struct LockedRows: Sendable {
    let transaction: Int
    let now: Timestamp
    let tenants: [TenantID: TenantRows]
}

/// The simulated Postgres: rows in memory, one lock for each tenant, transactions that can expire.
///
/// A statement takes effect immediately; the time is taken by the way to it and back, which the store
/// simulates. Locks are granted in the order of requests, and a transaction reads when the lock is granted,
/// even if the requesting process is paused at that moment.
final class MemoryDatabase: Sendable {
    static let idleMicroseconds: Int64 = 2_000_000
    static let lockMicroseconds: Int64 = 5_000_000

    fileprivate typealias Waiter = CheckedContinuation<Result<LockedRows, BatchFault>, Never>

    fileprivate struct Transaction {
        let process: Int
        let tenants: [TenantID]
        /// The rows of a snapshot from before the lock.
        let early: [TenantID: TenantRows]
        var lockedCount = 0
        var waiter: Waiter?
    }

    fileprivate struct Lock {
        var holder: Int?
        var queue: [Int] = []
    }

    fileprivate struct State {
        var tenants: [TenantID: TenantRows] = [:]
        var logs: [TenantID: [Recording]] = [:]
        var locks: [TenantID: Lock] = [:]
        var transactions: [Int: Transaction] = [:]
        var transactionCount = 0
        var journal: [CommittedBatch] = []
        var clockOffset: Int64 = 0
        var isClosed = false
    }

    private struct Answer {
        let waiter: Waiter
        let result: Result<LockedRows, BatchFault>
    }

    private let scheduler: Scheduler
    private let bug: PlantedBug?
    private let state = Mutex(State())

    init(tenants: [TenantID], scheduler: Scheduler, bug: PlantedBug?) {
        self.scheduler = scheduler
        self.bug = bug
        state.withLock { state in
            for tenant in tenants {
                state.tenants[tenant] = TenantRows()
                state.logs[tenant] = []
            }
        }
    }

    /// The database's clock, which can be set back.
    var now: Timestamp {
        let offset = state.withLock(\.clockOffset)
        return Timestamp(microseconds: 1_790_000_000_000_000 + scheduler.now + offset)
    }

    func moveClock(microseconds: Int64) {
        state.withLock { $0.clockOffset += microseconds }
    }

    /// Stores a challenge, outside any batch.
    func open(_ challenge: ChallengeID, in tenant: TenantID) {
        state.withLock { state in
            state.tenants[tenant]?.challenges.insert(challenge)
            state.tenants[tenant]?.challengesSent.insert(challenge)
        }
    }

    var journal: [CommittedBatch] { state.withLock(\.journal) }
    var journalCount: Int { state.withLock(\.journal.count) }
    var tenants: [TenantID: TenantRows] { state.withLock(\.tenants) }

    func log(of tenant: TenantID) -> [Recording] {
        state.withLock { $0.logs[tenant] ?? [] }
    }

    func logCount(of tenant: TenantID) -> Int {
        state.withLock { $0.logs[tenant]?.count ?? 0 }
    }

    /// Refuses everything from now on, and releases all waiters.
    func close() {
        state.withLock { $0.isClosed = true }
        restart()
    }

    /// Loses uncommitted transactions.
    func restart() {
        for id in state.withLock({ $0.transactions.keys.sorted() }) {
            rollBack(id)
        }
    }

    // MARK: - Transactions

    /// Begins a transaction, locks the tenants' heads in order, and then reads.
    func lock(
        _ tenants: [TenantID], for process: Int
    ) async -> Result<LockedRows, BatchFault> {
        await withCheckedContinuation { continuation in
            let (id, answers) = state.withLock { state -> (Int, [Answer]) in
                state.transactionCount += 1
                let id = state.transactionCount
                let known = tenants.sorted().filter { state.tenants[$0] != nil }
                guard !state.isClosed else {
                    return (
                        id, [Answer(waiter: continuation, result: .failure(.connectionLost))]
                    )
                }
                let early = state.tenants.filter { known.contains($0.key) }
                state.transactions[id] = Transaction(
                    process: process, tenants: known, early: early, waiter: continuation)
                return (id, advance(id, in: &state))
            }
            scheduler.after(microseconds: Self.lockMicroseconds) { [self] in
                give(up: id, if: { $0.waiter != nil }, because: .lockTimeout)
            }
            send(answers)
        }
    }

    /// Rolls a transaction back.
    func rollBack(_ id: Int) {
        give(up: id, if: { _ in true }, because: .connectionLost)
    }

    /// Rolls back the open transactions of a process whose connection is lost.
    func disconnect(_ process: Int) {
        let open = state.withLock { state in
            state.transactions.filter { $0.value.process == process }.keys.sorted()
        }
        for id in open {
            rollBack(id)
        }
    }

    /// Writes a batch and commits: all or nothing.
    ///
    /// A failure happens after the rows were written and before they take effect.
    /// - Throws: the reason why nothing was committed.
    func commit(
        _ id: Int, _ writes: [TenantWrites], as batch: CommittedBatch, failure: BatchFault? = nil
    ) throws(BatchFault) {
        let result = state.withLock { state -> Result<Void, BatchFault> in
            guard !state.isClosed else { return .failure(.connectionLost) }
            let isOpen = state.transactions[id] != nil
            let ignoresExpiry = bug == .expiredTransactionCommits || bug == .headNotCompared
            guard isOpen || ignoresExpiry else { return .failure(.expired) }
            var tenants = state.tenants
            do throws(BrokenExpectation) {
                for write in writes {
                    try tenants[write.tenant]?.write(
                        write, at: batch.now, comparesHead: bug != .headNotCompared)
                }
            } catch {
                return .failure(.store("unexpected rows of \(error.table)", isOfOneCommand: true))
            }
            if let failure {
                if bug == .halfBatchOnFailure { state.append(writes) }
                return .failure(failure)
            }
            state.tenants = tenants
            state.append(writes)
            state.journal.append(batch)
            return .success(())
        }
        // Committed or not, the transaction is over and its locks pass to the waiters.
        rollBack(id)
        try result.get()
    }

    // MARK: - Locks

    /// Acquires the locks of a transaction one after the other, as long as they are free.
    private func advance(_ id: Int, in state: inout State) -> [Answer] {
        guard var transaction = state.transactions[id] else { return [] }
        while transaction.lockedCount < transaction.tenants.count {
            let tenant = transaction.tenants[transaction.lockedCount]
            if let holder = state.locks[tenant]?.holder, holder != id {
                state.locks[tenant]?.queue.append(id)
                state.transactions[id] = transaction
                return []
            }
            state.locks[tenant, default: Lock()].holder = id
            transaction.lockedCount += 1
        }
        let waiter = transaction.waiter
        transaction.waiter = nil
        state.transactions[id] = transaction
        guard let waiter else { return [] }
        var seen: [TenantID: TenantRows] = [:]
        for tenant in transaction.tenants {
            guard let rows = state.tenants[tenant] else { continue }
            seen[tenant] = rows
            if bug == .lockFoldedIntoRead, var early = transaction.early[tenant] {
                // After the wait the locked row itself is read again, but not the others.
                early.nextPosition = rows.nextPosition
                early.lastRecordedAt = rows.lastRecordedAt
                seen[tenant] = early
            }
        }
        let now = Timestamp(
            microseconds: 1_790_000_000_000_000 + scheduler.now + state.clockOffset)
        scheduler.after(microseconds: Self.idleMicroseconds) { [self] in
            give(up: id, if: { _ in true }, because: .expired)
        }
        return [
            Answer(
                waiter: waiter,
                result: .success(LockedRows(transaction: id, now: now, tenants: seen)))
        ]
    }

    private func give(
        up id: Int, if condition: (Transaction) -> Bool, because fault: BatchFault
    ) {
        let answers = state.withLock { state -> [Answer] in
            guard let transaction = state.transactions[id], condition(transaction) else {
                return []
            }
            state.transactions[id] = nil
            var answers: [Answer] = []
            if let waiter = transaction.waiter {
                answers.append(Answer(waiter: waiter, result: .failure(fault)))
            }
            for tenant in transaction.tenants {
                state.locks[tenant]?.queue.removeAll { $0 == id }
                guard state.locks[tenant]?.holder == id else { continue }
                state.locks[tenant]?.holder = nil
                if let next = state.locks[tenant]?.queue.first {
                    state.locks[tenant]?.queue.removeFirst()
                    answers += advance(next, in: &state)
                }
            }
            return answers
        }
        send(answers)
    }

    private func send(_ answers: [Answer]) {
        for answer in answers {
            answer.waiter.resume(returning: answer.result)
        }
    }
}

extension MemoryDatabase.State {
    fileprivate mutating func append(_ writes: [TenantWrites]) {
        for write in writes {
            logs[write.tenant, default: []] += write.recordings
        }
    }
}

extension BatchFault {
    static let connectionLost = BatchFault.store("the connection is lost", isOfOneCommand: false)
    static let lockTimeout = BatchFault.store("the lock was not granted", isOfOneCommand: false)
    static let expired = BatchFault.store("the transaction idled too long", isOfOneCommand: false)
    static let diskFull = BatchFault.store("the disk is full", isOfOneCommand: false)
    static let refused = BatchFault.store("a statement is refused", isOfOneCommand: true)
}
