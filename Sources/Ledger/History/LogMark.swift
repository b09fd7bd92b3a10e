/// The position and time of an event.
package struct LogMark: Hashable, Sendable {
    package let position: LogPosition
    /// When the event at the position was recorded.
    package let recordedAt: Timestamp

    /// Creates a mark.
    package init(position: LogPosition, recordedAt: Timestamp) {
        self.position = position
        self.recordedAt = recordedAt
    }
}

/// The size of the log when an answer was read from it.
package struct LogExtent: Hashable, Sendable {
    /// The number of its events.
    package let size: Int64
    /// The size of the latest signed checkpoint in events; nil before the first checkpoint.
    package let signedSize: Int64?

    /// Pairs both sizes.
    package init(size: Int64, signedSize: Int64?) {
        self.size = size
        self.signedSize = signedSize
    }
}
