import Ledger
import Synchronization

/// The tenants that a lane of a projector has to fold next, as the commits and reads of this process name them.
///
/// A look over all tenants asks every shard on Citus. There a round folds the tenants that are named, from the
/// position where their new events begin, and looks over all of them only from time to time: for commits of other
/// processes, after a start, and after a round that left something behind.
final class TenantQueue: Sendable {
    /// The maximum number of named tenants; a look over all tenants takes the place of more.
    static let countMax = 1_000
    /// The maximum number of tenants in a round, so that one for which a request waits is soon in the next.
    static let roundMax = 8

    /// How soon a tenant is folded.
    private enum Stage: Comparable {
        /// After the pause, with all commits until then.
        case gathering
        case due
        /// Before the others, because a request waits.
        case urgent
    }

    private struct Named {
        var from: LogPosition
        var stage: Stage
        /// The place in the order in which tenants came to their stage: the first one is folded first.
        var place: UInt64
    }

    private struct State {
        var tenants: [TenantID: Named] = [:]
        /// The number of names so far.
        var count: UInt64 = 0
        var needsLook = true
        /// The time of the next look over all tenants.
        var look: ContinuousClock.Instant
        /// The time at which the tenants that gather become due.
        var page: ContinuousClock.Instant
        /// The time at which the last ones became due; nil when all of them are folded.
        var sweep: ContinuousClock.Instant?

        mutating func add(_ events: NewEvents, _ stage: Stage) {
            count += 1
            let known = tenants[events.tenant]
            guard known != nil || tenants.count < countMax else {
                tenants = [:]
                needsLook = true
                return
            }
            var named = known ?? Named(from: events.from, stage: stage, place: count)
            named.from = min(named.from, events.from)
            if named.stage < stage { (named.stage, named.place) = (stage, count) }
            tenants[events.tenant] = named
        }

        /// Removes the tenants of the next round, which have at least this stage.
        mutating func take(_ stage: Stage) -> [NewEvents] {
            let chosen = tenants.filter { $0.value.stage >= stage }
                .sorted {
                    ($1.value.stage, $0.value.place) < ($0.value.stage, $1.value.place)
                }
                .prefix(roundMax)
            for (tenant, _) in chosen { tenants[tenant] = nil }
            return chosen.map { NewEvents(tenant: $0.key, from: $0.value.from) }
        }
    }

    private let pause: Duration
    private let search: Duration
    private let state: Mutex<State>

    /// Creates a queue that begins with a look over all tenants.
    ///
    /// - Parameters:
    ///   - pause: The minimum time between two rounds of tenants for which no request waits.
    ///   - search: The time between two looks; zero for a look in every round, which needs no names.
    ///   - now: The time, as given to the other methods.
    init(pause: Duration, search: Duration, now: ContinuousClock.Instant = .now) {
        self.pause = pause
        self.search = search
        state = Mutex(State(look: now, page: now))
    }

    /// Whether rounds fold named tenants.
    var isNaming: Bool { search > .zero }

    /// Whether no tenant is named.
    var isEmpty: Bool { state.withLock { $0.tenants.isEmpty } }

    /// Adds a tenant with new events; `isUrgent` if a request waits for them.
    func add(_ events: NewEvents, isUrgent: Bool) {
        guard isNaming else { return }
        state.withLock { $0.add(events, isUrgent ? .urgent : .gathering) }
    }

    /// Makes the next round a look over all tenants.
    func lookAtAll() {
        state.withLock { $0.needsLook = true }
    }

    /// Removes the tenants of the next round, urgent ones first; nil for all tenants.
    func next(at now: ContinuousClock.Instant) -> [NewEvents]? {
        state.withLock { state in
            if state.needsLook || now >= state.look {
                // Their events are committed, so the look finds them.
                state.tenants = [:]
                state.needsLook = false
                state.sweep = now
                return nil
            }
            if state.sweep == nil, now >= state.page, !state.tenants.isEmpty {
                for tenant in state.tenants.keys where state.tenants[tenant]?.stage == .gathering {
                    state.tenants[tenant]?.stage = .due
                }
                state.sweep = now
            }
            return state.take(.due)
        }
    }

    /// Removes tenants for which a request waits, which are folded between those of a look.
    func nextUrgent() -> [NewEvents] {
        state.withLock { $0.take(.urgent) }
    }

    /// Records the end of a round of what ``next(at:)`` returned.
    func conclude(
        _ round: ProjectionFolder.Round, of named: [NewEvents]?, at now: ContinuousClock.Instant
    ) {
        state.withLock { state in
            if named == nil { state.look = now + search }
            if let sweep = state.sweep, !state.tenants.values.contains(where: { $0.stage == .due })
            {
                // As long as the round, at least: each of a hundred busy tenants has a transaction of its own.
                state.page = now + max(pause, now - sweep)
                state.sweep = nil
            }
            if round.hasFaults || round.hasFullPage { state.needsLook = true }
            // Not at once: reads name a tenant that has stopped again and again.
            if round.needsLook { state.look = min(state.look, now + pause) }
            guard isNaming else { return }
            for events in round.contended { state.add(events, .gathering) }
        }
    }

    /// Returns the time until the next round, without another wake-up.
    func pause(at now: ContinuousClock.Instant) -> Duration {
        state.withLock { state in
            if state.needsLook || state.tenants.values.contains(where: { $0.stage > .gathering }) {
                return .zero
            }
            let next = state.tenants.isEmpty ? state.look : min(state.look, state.page)
            return max(.zero, next - now)
        }
    }
}
