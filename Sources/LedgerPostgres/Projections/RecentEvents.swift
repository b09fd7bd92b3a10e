package import Ledger
import Synchronization

/// What this process appended last, for a projector beside it: the same events as in the log, without
/// reading, parsing and decrypting what was encoded a moment ago.
///
/// Only what a transaction has committed comes in. A projector asks for the position of its checkpoint
/// and takes from the log what is not here: what it is too far behind for, what another process appended,
/// and everything after a start.
package final class RecentEvents: Sendable {
    /// The most events that are kept, over all tenants: half a second of the highest load.
    package static let countMax = 8_192

    private struct Tail {
        var first: LogPosition
        var events: ArraySlice<DisclosedEvent> = []

        var end: LogPosition { LogPosition(first.value + Int64(events.count)) }

        mutating func dropOldest(_ count: Int) {
            let dropped = min(count, events.count)
            events.removeFirst(dropped)
            first = LogPosition(first.value + Int64(dropped))
        }
    }

    private struct State {
        var tails: [TenantID: Tail] = [:]
        var count = 0
    }

    private let countMax: Int
    private let state = Mutex(State())

    /// Makes an empty memory.
    package init(countMax: Int = RecentEvents.countMax) {
        self.countMax = countMax
    }

    /// Takes in what one commit appended to a tenant's log, in order, and forgets what is disclosed about
    /// accounts that it erased.
    ///
    /// Events that do not follow on those before them take their place: something between them was
    /// appended by another process.
    package func add(_ events: [DisclosedEvent], of tenant: TenantID) {
        guard let first = events.first?.position else { return }
        state.withLock { state in
            var tail = state.tails.removeValue(forKey: tenant) ?? Tail(first: first)
            state.count -= tail.events.count
            if tail.end != first { tail = Tail(first: first) }
            tail.events.append(contentsOf: events)
            // Half at once, so that what stays is moved seldom.
            if tail.events.count > countMax { tail.dropOldest(tail.events.count - countMax / 2) }
            if state.count + tail.events.count > countMax {
                state.tails = [:]
                state.count = 0
            }
            state.count += tail.events.count
            state.tails[tenant] = tail
        }
        var erased: Set<AccountID> = []
        for event in events {
            if case .accountErased(let fact) = event.recorded.event { erased.insert(fact.account) }
        }
        if !erased.isEmpty { forget(erased, of: tenant) }
    }

    /// Forgets what events disclose about accounts.
    package func forget(_ accounts: Set<AccountID>, of tenant: TenantID) {
        state.withLock { state in
            guard var tail = state.tails.removeValue(forKey: tenant) else { return }
            for index in tail.events.indices {
                let event = tail.events[index]
                guard let about = event.recorded.accounts.first?.id, accounts.contains(about),
                    event.disclosed.count > 0
                else { continue }
                tail.events[index] = DisclosedEvent(
                    recorded: event.recorded, disclosed: DisclosedValues())
            }
            state.tails[tenant] = tail
        }
    }

    /// Forgets everything: the database may have become another one.
    package func forget() {
        state.withLock { $0 = State() }
    }

    /// A page of a tenant's log; nil when the event at its position is not here.
    func page(of tenant: TenantID, from: LogPosition, limit: Int) -> LogPage? {
        state.withLock { state in
            guard let tail = state.tails[tenant], tail.first <= from, from < tail.end else {
                return nil
            }
            let events = tail.events.dropFirst(Int(from.value - tail.first.value)).prefix(limit)
                // What the links disclose that it gives back is not here.
                .prefix { LinkedDisclosures.linkPositions(of: $0.recorded).isEmpty }
            guard !events.isEmpty else { return nil }
            return LogPage(from: from, events: Array(events), damage: nil)
        }
    }
}
