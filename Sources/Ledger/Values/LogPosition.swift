/// An event's index in its tenant's log: 0, 1, 2 and so on, gapless, in commit order.
package struct LogPosition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The greatest possible head of a log: arithmetic on positions below it cannot overflow.
    package static let endMax: Int64 = 1 << 62

    package let value: Int64

    /// Creates a position; `value` is never negative in a log.
    package init(_ value: Int64) {
        self.value = value
    }

    /// The position after this one.
    ///
    /// A damaged row may hold the greatest number, which no log reaches; it is its own successor.
    package var next: LogPosition { LogPosition(value == .max ? .max : value + 1) }

    package var description: String { String(value) }

    package static func < (left: Self, right: Self) -> Bool {
        left.value < right.value
    }
}
