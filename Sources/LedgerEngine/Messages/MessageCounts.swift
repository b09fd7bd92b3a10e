package import LedgerMessages
internal import Synchronization

/// The number of messages or attempts of a channel that ended in the same way, in this process.
package struct MessageCount: Hashable, Sendable {
    package let channel: MessageChannel
    /// `sent`, `failed`, `expired`, or why an attempt has to be repeated.
    package let outcome: String
    package let count: Int
}

/// Counts the outcomes of this process.
final class MessageCounts: Sendable {
    private struct Key: Hashable {
        let channel: MessageChannel
        let outcome: String
    }

    private let counts = Mutex<[Key: Int]>([:])

    func add(_ outcome: String, of channel: MessageChannel, count: Int = 1) {
        counts.withLock { $0[Key(channel: channel, outcome: outcome), default: 0] += count }
    }

    /// All counts, in a fixed order.
    var all: [MessageCount] {
        counts.withLock(\.self)
            .map { MessageCount(channel: $0.channel, outcome: $0.outcome, count: $1) }
            .sorted { ($0.channel.rawValue, $0.outcome) < ($1.channel.rawValue, $1.outcome) }
    }
}
