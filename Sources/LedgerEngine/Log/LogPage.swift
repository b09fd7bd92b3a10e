package import Ledger

/// A page of the log for folding: events without a gap, and the damage that ended the reading, if
/// any.
package struct LogPage: Sendable {
    package let from: LogPosition
    package let events: [DisclosedEvent]
    /// Damage at the position after the last event.
    package let damage: LogDamage?

    /// Creates a page of the events from a position on.
    package init(from: LogPosition, events: [DisclosedEvent], damage: LogDamage?) {
        self.from = from
        self.events = events
        self.damage = damage
    }

    /// The position after the last event.
    package var end: LogPosition { LogPosition(from.value + Int64(events.count)) }

    /// Checks whether a fold at this position can continue with this page.
    package func covers(_ position: LogPosition) -> Bool {
        position >= from && (position < end || (position == end && damage != nil))
    }

    /// The maximum number of events in one page.
    package static let eventsMax = 4_000
}
