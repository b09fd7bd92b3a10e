import Synchronization

/// The statistics of a sequencer at one moment.
package struct SequencerStatistics: Sendable {
    /// Upper bounds of the commit histogram's buckets, in seconds.
    package static let commitSecondsBounds = [
        0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5,
    ]

    /// Commands that are waiting.
    package var queueDepth = 0
    /// Transactions committed.
    package var batches = 0
    /// Commands answered after a commit.
    package var commands = 0
    /// Events appended.
    package var events = 0
    /// Commands that failed with a fault.
    package var failedCommands = 0
    /// Batches that were retried in halves.
    package var batchesSplit = 0
    /// The number of transactions within each bound, and one more count for longer ones.
    package var commitCounts = Array(repeating: 0, count: commitSecondsBounds.count + 1)
    /// The total time of all transactions, in seconds.
    package var commitSecondsTotal = 0.0
}

/// The counters of a sequencer.
final class SequencerCounters: Sendable {
    private let state = Mutex(SequencerStatistics())
    private let streak = Mutex(FailureStreak())

    /// Whether consecutive batches have failed because of the database until just now.
    var isFailing: Bool { streak.withLock { $0.isLasting(at: .now) } }

    func statistics(queueDepth: Int) -> SequencerStatistics {
        var statistics = state.withLock(\.self)
        statistics.queueDepth = queueDepth
        return statistics
    }

    func committed(commands: Int, events: Int, in duration: Duration) {
        let seconds =
            Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let bounds = SequencerStatistics.commitSecondsBounds
        let bucket = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        state.withLock { state in
            state.batches += 1
            state.commands += commands
            state.events += events
            state.commitCounts[bucket] += 1
            state.commitSecondsTotal += seconds
        }
        streak.withLock { $0.end() }
    }

    func failed(commands: Int) {
        state.withLock { $0.failedCommands += commands }
    }

    /// Counts a batch that failed because of the database, and the time since it began.
    func refused(since start: ContinuousClock.Instant) {
        streak.withLock { $0.add(since: start, at: .now) }
    }

    func split() {
        state.withLock { $0.batchesSplit += 1 }
    }
}
