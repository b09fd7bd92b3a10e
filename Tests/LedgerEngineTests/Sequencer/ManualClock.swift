import Synchronization

/// A clock that moves only when it is advanced.
final class ManualClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { time.withLock(\.self) }

    func advance(by duration: Duration) {
        time.withLock { $0 += duration }
    }
}
