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

/// The accounts whose passkeys answered with counters that did not go up.
final class CounterFaults: Sendable {
    private let accounts = Mutex<[String]>([])

    var all: [String] { accounts.withLock(\.self) }

    func add(_ tenant: TenantID, _ account: AccountID, isRefused: Bool) {
        accounts.withLock { $0.append("\(tenant) \(account)\(isRefused ? "" : " accepted")") }
    }
}

/// Waits that end at once, each with the time at which it would have ended.
final class Pauses: Sendable {
    private let ends = Mutex<[ContinuousClock.Instant]>([])

    var all: [ContinuousClock.Instant] { ends.withLock(\.self) }

    func add(_ end: ContinuousClock.Instant) { ends.withLock { $0.append(end) } }
}
