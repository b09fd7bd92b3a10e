/// An event's place in its tenant's log: 0, 1, 2 and so on, gapless, in commit order.
package struct LogPosition: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let value: Int64

    /// Names a place; `value` is never negative in a log.
    package init(_ value: Int64) {
        self.value = value
    }

    /// The place after this one.
    package var next: LogPosition { LogPosition(value + 1) }

    package var description: String { String(value) }

    package static func < (left: Self, right: Self) -> Bool {
        left.value < right.value
    }
}
