import Foundation
import LedgerClient
import Synchronization

/// Clocks that a test moves.
///
/// The device's clock begins in 2001, so that nothing is right by its help.
final class ManualTime: TimeSource {
    private struct State {
        var wall: Date
        var monotonic = Duration.zero
        var sleeps: [Duration] = []
    }

    private let state: Mutex<State>
    /// Cancels the present task when it sleeps.
    private let cancelsSleep: Bool

    init(wall: Date = Date(timeIntervalSince1970: 1_000_000_000), cancelsSleep: Bool = false) {
        state = Mutex(State(wall: wall))
        self.cancelsSleep = cancelsSleep
    }

    var wall: Date { state.withLock(\.wall) }
    var monotonic: Duration { state.withLock(\.monotonic) }
    var sleeps: [Duration] { state.withLock(\.sleeps) }

    func sleep(for duration: Duration) async throws(CancellationError) {
        state.withLock { $0.sleeps.append(duration) }
        guard !cancelsSleep else { throw CancellationError() }
        advance(duration)
    }

    /// Moves both clocks.
    func advance(_ duration: Duration) {
        state.withLock { state in
            state.monotonic += duration
            state.wall += duration / .seconds(1)
        }
    }

    /// Sets the clock of the device, as a person or its operator does.
    func setWall(by seconds: TimeInterval) {
        state.withLock { $0.wall += seconds }
    }
}
