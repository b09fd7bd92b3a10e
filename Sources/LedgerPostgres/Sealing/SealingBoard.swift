import Ledger
import Synchronization

/// What a sealer's loops tell each other and whoever asks: how each log stands.
final class SealingBoard: Sendable {
    private struct Place {
        var size: Int64 = 0
        var isHeld = false
        var signed: Int64 = 0
        var audited: Int64?
        var refusal: SealingRefusal?
        /// Whether only an audit that finds everything in place lifts the refusal.
        var isOfAudit = false
        /// When a log that is not signed further is looked at again.
        var retry = ContinuousClock.now
    }

    private struct State {
        var places: [TenantID: Place] = [:]
        var beat = ContinuousClock.now
        var signedCount = 0
    }

    private let refusalPause: Duration
    private let state = Mutex(State())

    init(refusalPause: Duration) {
        self.refusalPause = refusalPause
    }

    /// Notes that a loop has come by.
    func beat() {
        state.withLock { $0.beat = .now }
    }

    func isAlive(within limit: Duration) -> Bool {
        state.withLock { ContinuousClock.now - $0.beat <= limit }
    }

    /// Checkpoints that were published.
    var signedCount: Int { state.withLock(\.signedCount) }

    var statuses: [SealerStatus] {
        state.withLock(\.places).sorted { $0.key < $1.key }.map { tenant, place in
            SealerStatus(
                tenant: tenant, size: place.size, isHeld: place.isHeld, signed: place.signed,
                audited: place.audited, refusal: place.refusal)
        }
    }

    /// Whether a log waits for an audit that lifts its refusal.
    var hasRefusal: Bool {
        state.withLock { $0.places.values.contains { $0.refusal != nil } }
    }

    /// Whether a log is to be left alone for now.
    func isResting(_ tenant: TenantID) -> Bool {
        state.withLock { state in
            guard let place = state.places[tenant], place.refusal != nil else { return false }
            return place.isOfAudit || place.retry > .now
        }
    }

    /// Takes in what a look at all logs came to; the refusals that are new.
    func note(_ round: LogSealing.Round) -> [(tenant: TenantID, refusal: SealingRefusal)] {
        state.withLock { state in
            state.beat = .now
            state.signedCount += round.publishedCount
            var news: [(tenant: TenantID, refusal: SealingRefusal)] = []
            for log in round.logs {
                var place = state.places[log.tenant] ?? Place()
                let wasResting = place.refusal != nil && (place.isOfAudit || place.retry > .now)
                place.size = log.size
                place.isHeld = log.isHeld
                if let size = round.signed[log.tenant] { place.signed = size }
                if let refusal = round.refusals[log.tenant] {
                    if place.refusal != refusal { news.append((log.tenant, refusal)) }
                    place.refusal = refusal
                    place.isOfAudit = refusal.isOfLog
                    place.retry = .now + refusalPause
                } else if !wasResting {
                    place.refusal = nil
                }
                state.places[log.tenant] = place
            }
            return news
        }
    }

    /// Notes that an audit has found everything in place up to a size.
    func noteAudit(of tenant: TenantID, size: Int64) {
        state.withLock { state in
            state.places[tenant]?.audited = size
            guard state.places[tenant]?.isOfAudit == true else { return }
            state.places[tenant]?.isOfAudit = false
            state.places[tenant]?.refusal = nil
        }
    }

    /// Notes what an audit has found; whether it is new.
    ///
    /// A log that went back stays one: that says more than the first event that is missing.
    func noteAudit(of tenant: TenantID, finding: SealingFinding) -> Bool {
        state.withLock { state in
            let refusal = SealingRefusal.contradicts(finding)
            let known = state.places[tenant]?.refusal
            if case .logWentBack = known { return false }
            let isNew = known != refusal
            state.places[tenant, default: Place()].refusal = refusal
            state.places[tenant]?.isOfAudit = true
            return isNew
        }
    }
}
