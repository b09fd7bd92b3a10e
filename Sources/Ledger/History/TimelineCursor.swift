/// The start of a further page of a timeline.
///
/// It carries the moment of the first page: a later merge would insert events of another account
/// before the position, where no page would show them.
package struct TimelineCursor: Hashable, Sendable, CustomStringConvertible {
    /// The last position that was listed.
    package let position: LogPosition
    /// The last position of the log at the moment of all pages.
    package let asOf: LogPosition

    /// Creates a cursor.
    package init(position: LogPosition, asOf: LogPosition) {
        self.position = position
        self.asOf = asOf
    }

    /// Reads the form of ``description``; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let position = LogPosition(digits: String(parts[0])),
            let asOf = LogPosition(digits: String(parts[1])), position <= asOf
        else { return nil }
        self.init(position: position, asOf: asOf)
    }

    /// `41-99`.
    package var description: String { "\(position)-\(asOf)" }
}
