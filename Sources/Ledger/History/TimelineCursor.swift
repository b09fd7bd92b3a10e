/// Where a further page of a timeline goes on.
///
/// It carries the moment of the first page: a merge that came later would bring events of another account
/// in before the position, where nobody would look any more.
package struct TimelineCursor: Hashable, Sendable, CustomStringConvertible {
    /// The last position that was listed.
    package let position: LogPosition
    /// The last position of the log at the moment that every page holds for.
    package let asOf: LogPosition

    /// Names a place in the timeline as of a moment.
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
