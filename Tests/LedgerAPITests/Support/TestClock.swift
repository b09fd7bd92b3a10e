import Ledger
import Synchronization

/// A clock that only a test advances.
final class TestClock: Sendable {
    private let time = Mutex(Timestamp(seconds: 1_750_000_000))

    var now: Timestamp { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 = $0.adding(seconds: seconds) }
    }
}
