package import Ledger
import TransparencyLog

/// Seals the logs of all tenants: hashes new events, signs checkpoints, and continually audits what was
/// signed.
///
/// Several processes may each run a sealer on the same database: a lease in the database assigns each log to
/// one of them. Each signature has to continue the last one in the record outside the database; where it does
/// not, the sealer signs nothing more of that log and reports it.
package final class Sealer: Sendable {
    private let configuration: SealerConfiguration
    private let record: any SealerRecord
    private let store: any SealerStore
    private let auditStore: any SealerStore
    private let board: SealingBoard
    private let signal = WakeSignal()
    private let onFault: @Sendable (String) -> Void
    private let onRefusal: @Sendable (TenantID, SealingRefusal) -> Void

    /// Creates a sealer, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: the limits.
    ///   - record: the record outside the database.
    ///   - store: the logs, their hashes and checkpoints.
    ///   - auditStore: the same for the audit, which uses it at the same time.
    ///   - onFault: called with one line, free of personal data, when the database can't be reached; must not
    ///     block.
    ///   - onRefusal: called when a log differs from what was signed; must not block.
    package init(
        configuration: SealerConfiguration, record: any SealerRecord,
        store: any SealerStore, auditStore: any SealerStore,
        onFault: @escaping @Sendable (String) -> Void = { _ in },
        onRefusal: @escaping @Sendable (TenantID, SealingRefusal) -> Void = { _, _ in }
    ) {
        self.configuration = configuration
        self.record = record
        self.onFault = onFault
        self.onRefusal = onRefusal
        board = SealingBoard(
            refusalPause: configuration.refusalPause, behindMax: configuration.behindMax)
        self.store = store
        self.auditStore = auditStore
    }

    /// Seals until the task is cancelled; survives an outage of the database.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.audit() }
            await self.seal()
            group.cancelAll()
        }
        await store.release()
        await store.close()
        await auditStore.close()
    }

    /// Refuses the logs that have a published checkpoint without a valid signature, where that shows at once.
    ///
    /// For a single pass, which ends before an audit would.
    /// - Throws: the error of a database that cannot be reached.
    package func checkPublished() async throws {
        for tenant in try record.tenants() {
            // An unusable record is refused where it is used.
            guard let logState = try? record.logState(of: tenant, mayBegin: false) else { continue }
            let look = UnsignedCheckpointSearch(store: auditStore, tenant: tenant)
            if let finding = try await look.finding(logState) {
                refuse(tenant, .contradicts(finding))
            }
        }
    }

    /// Starts a pass of the sealer soon; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        signal.raise()
    }

    /// Whether the loop ran within a time; an outage of the database does not stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        board.isAlive(within: limit)
    }

    /// Whether all logs were read recently.
    package var isCurrent: Bool { board.isCurrent }

    /// The state of each log, as known to this process.
    package var statuses: [SealerStatus] { board.statuses }

    /// The number of checkpoints that this process has published.
    package var checkpointCount: Int { board.signedCount }

    private func seal() async {
        var sealing = LogSealing(store: store, record: record, limits: configuration.limits)
        var pace = SealingPace(pause: configuration.pause, poll: configuration.poll)
        var recordInterval = ContinuousClock.now
        var waiting: Set<TenantID> = []
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let rest: SealingPace.Rest
            do {
                let round = try await sealing.round(
                    without: board.left, isRefused: board.isResting, beat: board.beat)
                for (tenant, refusal) in board.note(round) { onRefusal(tenant, refusal) }
                if ContinuousClock.now >= recordInterval {
                    readRecord()
                    reportWaiting(&waiting)
                    recordInterval = .now + configuration.recordInterval
                }
                for (tenant, what) in round.faults.sorted(by: { $0.key < $1.key }) {
                    onFault("the log of tenant \(tenant) could not be sealed: \(what)")
                }
                rest = pace.rest(after: round, took: ContinuousClock.now - start)
            } catch {
                onFault("the sealer cannot reach its tables: \(error)")
                rest = pace.restAfterFault()
            }
            if rest.sleep > .zero { _ = try? await Task.sleep(for: rest.sleep) }
            if rest.wait > .zero { await signal.wait(atMost: rest.wait) }
            board.beat()
        }
    }

    /// Reads from the record how far other processes have signed, and whether a signed log is gone.
    ///
    /// Not from the leases or the published checkpoints: the owner of the database can hold the former and
    /// forge the latter.
    private func readRecord() {
        // A log that was never signed need not have a record.
        func last(of tenant: TenantID) -> LastSigned? {
            try? record.logState(of: tenant, mayBegin: false).last
        }
        do {
            for tenant in board.watched {
                guard let last = last(of: tenant) else { continue }
                board.noteSigned(elsewhere: last.checkpoint.size, of: tenant)
            }
            for tenant in try record.tenants() where !board.knows(tenant) {
                guard let last = last(of: tenant) else { continue }
                refuse(tenant, .logTruncated(size: 0, signed: last.checkpoint.size))
            }
        } catch {
            onFault("the sealer's record can't be read: \(error)")
        }
    }

    /// Reports the logs whose events have begun to wait for a signature for too long, without a refusal.
    private func reportWaiting(_ known: inout Set<TenantID>) {
        let waiting = board.statuses.filter { $0.isStuck && $0.refusal == nil }
        for status in waiting where !known.contains(status.tenant) {
            onFault(
                "\(status.size - status.signed) events of tenant \(status.tenant) wait to be signed"
            )
        }
        known = Set(waiting.map(\.tenant))
    }

    // MARK: - The audit

    /// The factor between the rest of the audit and the time it has worked.
    private static let auditRestFactor = 19

    /// Audits the logs one after the other at low priority, including those that others seal, so that a
    /// finding outlives a lease.
    private func audit() async {
        while !Task.isCancelled {
            for status in board.statuses where !Task.isCancelled {
                // Nothing can contradict a log that was never seen signed.
                guard status.signed > 0 || status.refusal != nil else { continue }
                do {
                    try await audit(status.tenant)
                } catch is CancellationError {
                    return
                } catch let refusal as SealingRefusal {
                    refuse(status.tenant, refusal)
                } catch {
                    if case .permanent(let what) = auditStore.failure(of: error) {
                        refuse(status.tenant, .databaseFails(what))
                    }
                    onFault("the audit of tenant \(status.tenant) was aborted: \(error)")
                }
            }
            // A refused log is signed again as soon as an audit has found everything in order.
            let rest = board.hasRefusal ? configuration.refusalPause : configuration.auditRest
            _ = try? await Task.sleep(for: board.statuses.isEmpty ? configuration.poll : rest)
        }
    }

    private func audit(_ tenant: TenantID) async throws {
        let logState = try record.logState(of: tenant, mayBegin: false)
        // Nothing was signed under this name, so there is nothing to contradict.
        guard let last = logState.last else { return board.noteAudit(of: tenant, size: 0) }
        var audit = LogAudit(
            of: tenant, last: last, verifiers: logState.verifiers, store: auditStore,
            pageMax: configuration.limits.pageMax)
        while true {
            try Task.checkCancellation()
            let start = ContinuousClock.now
            switch try await audit.step() {
            case .more: break
            case .whole: return board.noteAudit(of: tenant, size: last.checkpoint.size)
            case .finding(let finding):
                return refuse(tenant, .contradicts(finding))
            }
            let worked = ContinuousClock.now - start
            try await Task.sleep(for: max(configuration.auditPause, worked * Self.auditRestFactor))
        }
    }

    private func refuse(_ tenant: TenantID, _ refusal: SealingRefusal) {
        if board.noteAudit(of: tenant, refusal: refusal) { onRefusal(tenant, refusal) }
    }
}
