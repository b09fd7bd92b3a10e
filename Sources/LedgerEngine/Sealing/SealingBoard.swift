import Ledger
import Synchronization

/// The state of each log, shared by a sealer's loops and its observers.
final class SealingBoard: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct LogState {
        var size: Int64 = 0
        var isHeld = false
        var signed: Int64 = 0
        var isSignedHere = false
        var audited: Int64?
        var refusal: SealingRefusal?
        /// Whether the refusal lasts until an audit has found everything in order.
        var isFromAudit = false
        /// The end of the log's rest; nil when it may be processed.
        var retry: Instant?
        /// The time since which unsigned events wait; nil if every event is signed.
        var behindSince: Instant?

        func isResting(at now: Instant) -> Bool {
            (refusal != nil && isFromAudit) || (retry.map { $0 > now } ?? false)
        }

        /// Records the result of a pass over this log.
        mutating func note(
            _ log: SealerLog, _ round: LogSealing.Round, now: Instant, pause: Duration
        ) {
            size = log.size
            isHeld = log.isHeld
            isSignedHere = isSignedHere && log.isHeld
            let before = signed
            if let size = round.signed[log.tenant] {
                signed = size
                isSignedHere = true
                // A finding of the audit in the meantime remains.
                if !isFromAudit { (refusal, retry) = (nil, nil) }
            }
            if let found = round.refusals[log.tenant] {
                refusal = found
                isFromAudit = isFromAudit || found.concernsLog
                retry = now + pause
            }
            if round.faults[log.tenant] != nil { retry = now + pause }
            wait(before: before, now: now)
        }

        /// Records the size that another sealer has signed.
        mutating func note(signedElsewhere size: Int64, now: Instant) {
            let before = signed
            signed = max(signed, size)
            wait(before: before, now: now)
        }

        private mutating func wait(before: Int64, now: Instant) {
            guard signed < size else { return behindSince = nil }
            behindSince = signed > before ? now : behindSince ?? now
        }
    }

    private struct State {
        var logStates: [TenantID: LogState] = [:]
        var beat: Instant
        var lastRound: Instant
        var signedCount = 0
    }

    private let refusalPause: Duration
    private let behindMax: Duration
    private let now: @Sendable () -> Instant
    private let state: Mutex<State>

    /// Creates a board; `behindMax` is how long a log may have unsigned events before it counts as stuck.
    init(
        refusalPause: Duration, behindMax: Duration = .seconds(30),
        now: @escaping @Sendable () -> Instant = { .now }
    ) {
        self.refusalPause = refusalPause
        self.behindMax = behindMax
        self.now = now
        state = Mutex(State(beat: now(), lastRound: now()))
    }

    /// Records a sign of life of a loop.
    func beat() {
        let now = now()
        state.withLock { $0.beat = now }
    }

    func isAlive(within limit: Duration) -> Bool {
        let now = now()
        return state.withLock { now - $0.beat <= limit }
    }

    /// Whether all logs were read recently.
    var isCurrent: Bool {
        let now = now()
        return state.withLock { now - $0.lastRound <= behindMax }
    }

    /// The number of checkpoints that were published.
    var signedCount: Int { state.withLock(\.signedCount) }

    var statuses: [SealerStatus] {
        let now = now()
        return state.withLock(\.logStates).sorted { $0.key < $1.key }.map { tenant, logState in
            SealerStatus(
                tenant: tenant, size: logState.size, isHeld: logState.isHeld,
                signed: logState.signed,
                isSignedHere: logState.isSignedHere, audited: logState.audited,
                refusal: logState.refusal,
                isStuck: logState.behindSince.map { now - $0 > behindMax } ?? false)
        }
    }

    /// Whether a refused log waits for an audit.
    var hasRefusal: Bool {
        state.withLock { $0.logStates.values.contains { $0.refusal != nil } }
    }

    /// The logs that this process can't seal for reasons of its own, while they rest; another one may.
    var left: [TenantID] {
        let now = now()
        return state.withLock(\.logStates).filter { _, logState in
            switch logState.refusal {
            case .recordUnusable: return logState.isResting(at: now)
            case .unauthentic(let damage): return damage.lacksKey && logState.isResting(at: now)
            default: return false
            }
        }.keys.sorted()
    }

    /// The logs that another process seals, and that have grown since the last known signature.
    var watched: [TenantID] {
        state.withLock(\.logStates).filter { !$0.value.isHeld && $0.value.signed < $0.value.size }
            .keys.sorted()
    }

    /// Records how far another process has signed a log.
    func noteSigned(elsewhere size: Int64, of tenant: TenantID) {
        let now = now()
        state.withLock { $0.logStates[tenant]?.note(signedElsewhere: size, now: now) }
    }

    /// Whether a log was seen in the database.
    func knows(_ tenant: TenantID) -> Bool {
        state.withLock { $0.logStates[tenant] != nil }
    }

    /// Whether a log is at rest.
    func isResting(_ tenant: TenantID) -> Bool {
        let now = now()
        return state.withLock { $0.logStates[tenant]?.isResting(at: now) ?? false }
    }

    /// Records the result of a pass over all logs; returns the new refusals.
    func note(_ round: LogSealing.Round) -> [(tenant: TenantID, refusal: SealingRefusal)] {
        let now = now()
        return state.withLock { state in
            state.beat = now
            state.lastRound = now
            state.signedCount += round.publishedCount
            var news: [(tenant: TenantID, refusal: SealingRefusal)] = []
            for log in round.logs {
                var logState = state.logStates[log.tenant] ?? LogState()
                let known = logState.refusal
                logState.note(log, round, now: now, pause: refusalPause)
                if let refusal = round.refusals[log.tenant], refusal != known, log.isHeld {
                    news.append((log.tenant, refusal))
                }
                state.logStates[log.tenant] = logState
            }
            return news
        }
    }

    /// Records that an audit has found everything in order up to a size.
    ///
    /// A refused log is tried again, by the process that has its lease; the refusal ends only when that
    /// succeeds.
    func noteAudit(of tenant: TenantID, size: Int64) {
        state.withLock { state in
            guard var logState = state.logStates[tenant] else { return }
            logState.audited = size
            if logState.isFromAudit { (logState.isFromAudit, logState.retry) = (false, nil) }
            if !logState.isHeld { logState.refusal = nil }
            state.logStates[tenant] = logState
        }
    }

    /// Records the finding of an audit; returns whether it is new.
    ///
    /// A log that is shorter than signed keeps that refusal: it says more than the first missing event.
    func noteAudit(of tenant: TenantID, refusal: SealingRefusal) -> Bool {
        state.withLock { state in
            let known = state.logStates[tenant]?.refusal
            if case .logTruncated = known { return false }
            let isNew = known != refusal
            state.logStates[tenant, default: LogState()].refusal = refusal
            state.logStates[tenant]?.isFromAudit = true
            return isNew
        }
    }
}
