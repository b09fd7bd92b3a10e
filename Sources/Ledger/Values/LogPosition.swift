/// An event's place in its tenant's log: 0, 1, 2 and so on, gapless, in commit order.
package struct LogPosition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Where the head of the longest log stands: whatever counts further from a place cannot overflow.
    package static let endMax: Int64 = 1 << 62

    package let value: Int64

    /// Names a place; `value` is never negative in a log.
    package init(_ value: Int64) {
        self.value = value
    }

    /// The place after this one.
    ///
    /// A row may name the last that a number can name, which no log has; nothing comes after that.
    package var next: LogPosition { LogPosition(value == .max ? .max : value + 1) }

    package var description: String { String(value) }

    package static func < (left: Self, right: Self) -> Bool {
        left.value < right.value
    }
}
