import Ledger
import Synchronization

/// What a sealer's loops tell each other and whoever asks: how each log stands.
final class SealingBoard: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Place {
        var size: Int64 = 0
        var isHeld = false
        var signed: Int64 = 0
        var isSignedHere = false
        var audited: Int64?
        var refusal: SealingRefusal?
        /// Whether the refusal stands until an audit has found everything in place.
        var isOfAudit = false
        /// Until when the log is left alone; nil when it may be looked at.
        var retry: Instant?
        /// Since when there is something to sign and nothing of it is signed; nil when there is nothing.
        var behindSince: Instant?

        func isResting(at now: Instant) -> Bool {
            (refusal != nil && isOfAudit) || (retry.map { $0 > now } ?? false)
        }

        /// Takes in what a look at this log came to.
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
                // What the audit has found meanwhile stands.
                if !isOfAudit { (refusal, retry) = (nil, nil) }
            }
            if let found = round.refusals[log.tenant] {
                refusal = found
                isOfAudit = isOfAudit || found.isOfLog
                retry = now + pause
            }
            if round.faults[log.tenant] != nil { retry = now + pause }
            wait(before: before, now: now)
        }

        /// Takes in what another sealer has signed.
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
        var places: [TenantID: Place] = [:]
        var beat: Instant
        var lastRound: Instant
        var signedCount = 0
    }

    private let refusalPause: Duration
    private let behindMax: Duration
    private let now: @Sendable () -> Instant
    private let state: Mutex<State>

    /// `behindMax` is how long a log may have something to sign before that is trouble.
    init(
        refusalPause: Duration, behindMax: Duration = .seconds(30),
        now: @escaping @Sendable () -> Instant = { .now }
    ) {
        self.refusalPause = refusalPause
        self.behindMax = behindMax
        self.now = now
        state = Mutex(State(beat: now(), lastRound: now()))
    }

    /// Notes that a loop has come by.
    func beat() {
        let now = now()
        state.withLock { $0.beat = now }
    }

    func isAlive(within limit: Duration) -> Bool {
        let now = now()
        return state.withLock { now - $0.beat <= limit }
    }

    /// Whether all logs could be looked at, not too long ago.
    var isCurrent: Bool {
        let now = now()
        return state.withLock { now - $0.lastRound <= behindMax }
    }

    /// Checkpoints that were published.
    var signedCount: Int { state.withLock(\.signedCount) }

    var statuses: [SealerStatus] {
        let now = now()
        return state.withLock(\.places).sorted { $0.key < $1.key }.map { tenant, place in
            SealerStatus(
                tenant: tenant, size: place.size, isHeld: place.isHeld, signed: place.signed,
                isSignedHere: place.isSignedHere, audited: place.audited, refusal: place.refusal,
                isStuck: place.behindSince.map { now - $0 > behindMax } ?? false)
        }
    }

    /// Whether a log waits for an audit that lifts its refusal.
    var hasRefusal: Bool {
        state.withLock { $0.places.values.contains { $0.refusal != nil } }
    }

    /// The logs that this process can't seal for reasons of its own, while they rest: another one may.
    var left: [TenantID] {
        let now = now()
        return state.withLock(\.places).filter { _, place in
            switch place.refusal {
            case .recordUnfit: return place.isResting(at: now)
            case .unauthentic(let damage): return damage.lacksKey && place.isResting(at: now)
            default: return false
            }
        }.keys.sorted()
    }

    /// The logs that this process does not seal, and that have grown since anybody was seen to sign them.
    var watched: [TenantID] {
        state.withLock(\.places).filter { !$0.value.isHeld && $0.value.signed < $0.value.size }
            .keys.sorted()
    }

    /// Notes how far another process has signed a log.
    func noteSigned(elsewhere size: Int64, of tenant: TenantID) {
        let now = now()
        state.withLock { $0.places[tenant]?.note(signedElsewhere: size, now: now) }
    }

    /// Whether a log is in the database, as far as was seen.
    func knows(_ tenant: TenantID) -> Bool {
        state.withLock { $0.places[tenant] != nil }
    }

    /// Whether a log is to be left alone for now.
    func isResting(_ tenant: TenantID) -> Bool {
        let now = now()
        return state.withLock { $0.places[tenant]?.isResting(at: now) ?? false }
    }

    /// Takes in what a look at all logs came to; the refusals that are new.
    func note(_ round: LogSealing.Round) -> [(tenant: TenantID, refusal: SealingRefusal)] {
        let now = now()
        return state.withLock { state in
            state.beat = now
            state.lastRound = now
            state.signedCount += round.publishedCount
            var news: [(tenant: TenantID, refusal: SealingRefusal)] = []
            for log in round.logs {
                var place = state.places[log.tenant] ?? Place()
                let known = place.refusal
                place.note(log, round, now: now, pause: refusalPause)
                if let refusal = round.refusals[log.tenant], refusal != known, log.isHeld {
                    news.append((log.tenant, refusal))
                }
                state.places[log.tenant] = place
            }
            return news
        }
    }

    /// Notes that an audit has found everything in place up to a size.
    ///
    /// A log that is refused is tried again, and only when that works it is refused no more. Where another
    /// process has it, that one tries.
    func noteAudit(of tenant: TenantID, size: Int64) {
        state.withLock { state in
            guard var place = state.places[tenant] else { return }
            place.audited = size
            if place.isOfAudit { (place.isOfAudit, place.retry) = (false, nil) }
            if !place.isHeld { place.refusal = nil }
            state.places[tenant] = place
        }
    }

    /// Notes what an audit has found; whether it is new.
    ///
    /// A log that went back stays one: that says more than the first event that is missing.
    func noteAudit(of tenant: TenantID, refusal: SealingRefusal) -> Bool {
        state.withLock { state in
            let known = state.places[tenant]?.refusal
            if case .logWentBack = known { return false }
            let isNew = known != refusal
            state.places[tenant, default: Place()].refusal = refusal
            state.places[tenant]?.isOfAudit = true
            return isNew
        }
    }
}
