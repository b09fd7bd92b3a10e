public import Foundation

/// The clocks of a device, which tests of an app can replace.
public protocol TimeSource: Sendable {
    /// The time of the device's clock, which may be set wrong.
    var wall: Date { get }

    /// The time since any fixed moment, by a clock that cannot be set and also runs while the device sleeps.
    var monotonic: Duration { get }

    /// Waits.
    ///
    /// - Parameter duration: The time to wait.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws(CancellationError)
}

/// The clocks of this device.
public struct SystemTime: TimeSource {
    private static let start = ContinuousClock.now

    /// Creates the clocks.
    public init() {}

    /// The time of the device's clock.
    public var wall: Date { Date() }

    /// The time since the first use.
    public var monotonic: Duration { ContinuousClock.now - Self.start }

    /// Waits.
    ///
    /// - Parameter duration: The time to wait.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(for: duration, clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }
}

/// The ledger's clock, as its answers tell it.
///
/// Between answers it goes on by the monotonic clock, so a wrong clock of the device does not matter.
actor ServerClock {
    private let time: any TimeSource
    private var last: (server: Date, monotonic: Duration)?

    init(_ time: any TimeSource) {
        self.time = time
    }

    /// Notes the time of an answer.
    func observe(_ date: Date) {
        last = (date, time.monotonic)
    }

    /// The ledger's time minus that of the device's clock; nil before the first answer.
    var offset: TimeInterval? {
        last.map { time.wall.distance(to: now(since: $0)) }
    }

    /// Returns the ledger's time: by an answer, or else by the device's clock and an offset that was stored.
    func now(storedOffset: TimeInterval) -> Date {
        last.map(now(since:)) ?? time.wall.addingTimeInterval(storedOffset)
    }

    private func now(since last: (server: Date, monotonic: Duration)) -> Date {
        last.server.addingTimeInterval((time.monotonic - last.monotonic) / .seconds(1))
    }
}
