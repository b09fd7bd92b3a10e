internal import Foundation
internal import Synchronization

/// Threads for work that blocks: a few at a time, begun when there is work and ended after it.
///
/// Not a dispatch queue: on Linux those share their threads with Swift's tasks, about one a core.
final class BlockingThreads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let countMax: Int
    private let state = Mutex(State())

    /// Makes a group of at most `countMax` threads.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Does the work on a thread of its own, or after other work when all threads have some.
    func run(_ work: @escaping Work) {
        let startsThread = state.withLock { state in
            guard state.running < countMax else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        if startsThread {
            Thread.detachNewThread {
                var next: Work? = work
                while let work = next {
                    work()
                    next = self.takeNext()
                }
            }
        }
    }

    private func takeNext() -> Work? {
        state.withLock { state in
            guard state.waiting.isEmpty else {
                return state.waiting.removeFirst()
            }
            state.running -= 1
            return nil
        }
    }
}
