package import Ledger
import TransparencyLog

/// Seals the logs of all tenants: hashes what is appended, signs checkpoints, and goes through what was
/// signed again and again.
///
/// Several processes may each run a sealer on the same database: a lease in the database gives each log
/// to one of them. What it signs has to continue what was signed before, as the record outside of the
/// database says it; where it does not, the sealer signs nothing more of that log and says so.
package final class Sealer: Sendable {
    private let configuration: SealerConfiguration
    private let record: any SealerRecord
    private let store: PostgresSealerStore
    private let auditStore: PostgresSealerStore
    private let board: SealingBoard
    private let signal = WakeSignal()
    private let onFault: @Sendable (String) -> Void
    private let onRefusal: @Sendable (TenantID, SealingRefusal) -> Void

    /// Makes a sealer; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and limits.
    ///   - record: what is kept outside of the database.
    ///   - macs: what events are authenticated with; without any, a forged event is signed like others.
    ///   - onFault: called with one line, free of personal data, when the database can't be reached; must
    ///     not block.
    ///   - onRefusal: called when a log is found not to be what was signed; must not block.
    package init(
        configuration: SealerConfiguration, record: any SealerRecord, macs: MACKeys?,
        onFault: @escaping @Sendable (String) -> Void = { _ in },
        onRefusal: @escaping @Sendable (TenantID, SealingRefusal) -> Void = { _, _ in }
    ) {
        self.configuration = configuration
        self.record = record
        self.onFault = onFault
        self.onRefusal = onRefusal
        board = SealingBoard(
            refusalPause: configuration.refusalPause, behindMax: configuration.behindMax)
        store = PostgresSealerStore(
            url: configuration.url, applicationName: HolderName.sealer.rawValue, macs: macs)
        auditStore = PostgresSealerStore(
            url: configuration.url, applicationName: "account-ledger sealer audit", macs: macs)
    }

    /// Seals until the task is cancelled; survives a database that goes away and comes back.
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

    /// Refuses the logs of which a checkpoint is published that nobody signed, as far as that is seen at
    /// once; for a pass that ends before an audit would.
    ///
    /// - Throws: what the database throws when it is away.
    package func lookAtPublished() async throws {
        for tenant in try record.tenants() {
            // A record that is not fit for use is refused where it is used.
            guard let standing = try? record.standing(of: tenant, mayBegin: false) else { continue }
            let look = PublishedLook(store: auditStore, tenant: tenant)
            if let finding = try await look.finding(standing) {
                refuse(tenant, .contradicts(finding))
            }
        }
    }

    /// Makes the sealer look at once; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        signal.raise()
    }

    /// Whether the loop has come by within a time; a database that is away does not stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        board.isAlive(within: limit)
    }

    /// Whether all logs could be looked at, not too long ago.
    package var isCurrent: Bool { board.isCurrent }

    /// How each log stands, as far as this process knows.
    package var statuses: [SealerStatus] { board.statuses }

    /// Checkpoints that this process has published.
    package var checkpointCount: Int { board.signedCount }

    private func seal() async {
        var sealing = LogSealing(store: store, record: record, limits: configuration.limits)
        var pace = SealingPace(pause: configuration.pause, poll: configuration.poll)
        var recordLook = ContinuousClock.now
        while !Task.isCancelled {
            let start = ContinuousClock.now
            let rest: SealingPace.Rest
            do {
                let round = try await sealing.round(
                    without: board.left, isRefused: board.isResting, beat: board.beat)
                for (tenant, refusal) in board.note(round) { onRefusal(tenant, refusal) }
                if ContinuousClock.now >= recordLook {
                    lookAtRecord()
                    recordLook = .now + configuration.recordLook
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

    /// Sees from the record how far other processes have signed, and whether a log that was signed is gone.
    ///
    /// Not from the leases, nor from what is published: who owns the database can hold the one, and make
    /// up the other.
    private func lookAtRecord() {
        // Of a log that nobody has signed yet nothing need be kept.
        func last(of tenant: TenantID) -> LastSigned? {
            try? record.standing(of: tenant, mayBegin: false).last
        }
        do {
            for tenant in board.watched {
                guard let last = last(of: tenant) else { continue }
                board.noteSigned(elsewhere: last.checkpoint.size, of: tenant)
            }
            for tenant in try record.tenants() where !board.knows(tenant) {
                guard let last = last(of: tenant) else { continue }
                refuse(tenant, .logWentBack(size: 0, signed: last.checkpoint.size))
            }
        } catch {
            onFault("the sealer's record can't be read: \(error)")
        }
    }

    // MARK: - The audit

    /// The audit takes this many times longer to rest than it has worked.
    private static let auditRestFactor = 19

    /// Goes through the logs, one after the other, at its ease: also through those that others seal, so
    /// that what it has found does not go with a lease.
    private func audit() async {
        while !Task.isCancelled {
            for status in board.statuses where !Task.isCancelled {
                // Nothing contradicts a log that nobody was seen to sign.
                guard status.signed > 0 || status.refusal != nil else { continue }
                do {
                    try await audit(status.tenant)
                } catch is CancellationError {
                    return
                } catch let refusal as SealingRefusal {
                    refuse(status.tenant, refusal)
                } catch {
                    if case .lasting(let what) = StoreTrouble(error) {
                        refuse(status.tenant, .databaseFails(what))
                    }
                    onFault("the audit of tenant \(status.tenant) was broken off: \(error)")
                }
            }
            // A log that is refused is signed again as soon as an audit has found everything in place.
            let rest = board.hasRefusal ? configuration.refusalPause : configuration.auditRest
            _ = try? await Task.sleep(for: board.statuses.isEmpty ? configuration.poll : rest)
        }
    }

    private func audit(_ tenant: TenantID) async throws {
        let standing = try record.standing(of: tenant, mayBegin: false)
        // Nothing was signed under this name, so nothing can contradict it.
        guard let last = standing.last else { return board.noteAudit(of: tenant, size: 0) }
        var audit = LogAudit(
            of: tenant, last: last, verifiers: standing.verifiers, store: auditStore,
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
