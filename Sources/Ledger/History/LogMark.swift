/// An event's place in the log, with its time.
package struct LogMark: Hashable, Sendable {
    package let position: LogPosition
    /// When the event at the position was recorded.
    package let recordedAt: Timestamp

    /// Names an event's place and time.
    package init(position: LogPosition, recordedAt: Timestamp) {
        self.position = position
        self.recordedAt = recordedAt
    }
}

/// The log at the moment in which an answer was read from it.
package struct LogExtent: Hashable, Sendable {
    /// How many events it has.
    package let size: Int64
    /// How many of them the last signed checkpoint covers; nil while there is none.
    package let signedSize: Int64?

    /// Names both sizes.
    package init(size: Int64, signedSize: Int64?) {
        self.size = size
        self.signedSize = signedSize
    }
}
