package import Ledger
import Synchronization

/// The events that this process appended last, kept decoded for its projector.
///
/// Only committed events are added. The projector asks for the position of its checkpoint, and reads from the
/// log what is absent here: events that are too old, events of other processes, and everything after a start.
package final class RecentEvents: Sendable {
    /// The maximum number of events kept, over all tenants: half a second at the highest load.
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

    /// Creates an empty cache.
    package init(countMax: Int = RecentEvents.countMax) {
        self.countMax = countMax
    }

    /// Adds the events of one commit to a tenant's log.
    package func add(_ appended: TenantRecordings) {
        let events = appended.recordings.map { recording in
            DisclosedEvent(
                recorded: recording.recorded, disclosed: DisclosedValues(recording.disclosed))
        }
        add(events, of: appended.tenant)
    }

    /// Adds the events of one commit to a tenant's log, in order, and removes disclosures of the accounts
    /// that it erased.
    ///
    /// When the events do not continue the kept ones, they replace them, because another process appended
    /// events in between.
    package func add(_ events: [DisclosedEvent], of tenant: TenantID) {
        guard let first = events.first?.position else { return }
        state.withLock { state in
            var tail = state.tails.removeValue(forKey: tenant) ?? Tail(first: first)
            state.count -= tail.events.count
            if tail.end != first { tail = Tail(first: first) }
            tail.events.append(contentsOf: events)
            // Half at once, so that the rest is rarely moved.
            if tail.events.count > countMax { tail.dropOldest(tail.events.count - countMax / 2) }
            if state.count + tail.events.count > countMax {
                state.tails = [:]
                state.count = 0
            }
            state.count += tail.events.count
            state.tails[tenant] = tail
        }
        let erased = Set(events.compactMap { $0.recorded.event.erasedAccount })
        if !erased.isEmpty { forget(erased, of: tenant) }
    }

    /// Removes the disclosures of accounts.
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

    /// Removes everything: the connection may now lead to another database.
    package func forget() {
        state.withLock { $0 = State() }
    }

    /// Returns a page of a tenant's log, or nil when the event at its position is not kept.
    package func page(of tenant: TenantID, from: LogPosition, limit: Int) -> LogPage? {
        state.withLock { state in
            guard let tail = state.tails[tenant], tail.first <= from, from < tail.end else {
                return nil
            }
            let events = tail.events.dropFirst(Int(from.value - tail.first.value)).prefix(limit)
                // The disclosures of links that an event returns are not kept here.
                .prefix { $0.recorded.linkPositions.isEmpty }
            guard !events.isEmpty else { return nil }
            return LogPage(from: from, events: Array(events), damage: nil)
        }
    }
}
