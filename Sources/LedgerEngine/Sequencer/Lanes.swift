import Synchronization

/// Queues that are served side by side, each made when it is first needed.
///
/// One lane serves every tenant of plain Postgres. On Citus each node has its own, so that a node that does not
/// answer delays only the tenants that it holds.
package final class Lanes<Lane: Sendable>: Sendable {
    private struct State {
        var lanes: [Int: Lane] = [:]
        var isOver = false
    }

    /// The lane of tenants whose node is unknown, which always exists.
    package let first: Lane
    private let state: Mutex<State>
    private let make: @Sendable () -> Lane
    private let close: @Sendable (Lane) -> Void
    private let made: AsyncStream<Lane>
    private let making: AsyncStream<Lane>.Continuation

    /// Creates the first lane.
    ///
    /// - Parameters:
    ///   - make: Makes a lane.
    ///   - close: Closes a lane to new work, so that its work ends.
    package init(
        _ make: @escaping @Sendable () -> Lane, close: @escaping @Sendable (Lane) -> Void
    ) {
        first = make()
        state = Mutex(State(lanes: [0: first]))
        self.make = make
        self.close = close
        (made, making) = AsyncStream.makeStream()
        making.yield(first)
    }

    /// Every lane so far.
    package var all: [Lane] { state.withLock { Array($0.lanes.values) } }

    /// Returns the lane with a number, and makes it if needed; the first one once no more are made.
    package func lane(_ number: Int) -> Lane {
        guard number != 0 else { return first }
        return state.withLock { state in
            if let lane = state.lanes[number] { return lane }
            guard !state.isOver else { return first }
            let lane = make()
            state.lanes[number] = lane
            making.yield(lane)
            return lane
        }
    }

    /// Serves every lane until all were closed and their work is done.
    package func run(_ serve: @escaping @Sendable (Lane) async -> Void) async {
        await withDiscardingTaskGroup { group in
            for await lane in made {
                group.addTask { await serve(lane) }
            }
            // Also after a cancellation, when nothing would serve another lane.
            state.withLock { $0.isOver = true }
        }
    }

    /// Closes every lane.
    package func closeAll() {
        let lanes = state.withLock { state in
            state.isOver = true
            making.finish()
            return Array(state.lanes.values)
        }
        for lane in lanes { close(lane) }
    }
}
