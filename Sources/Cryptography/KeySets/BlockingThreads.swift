internal import Foundation
internal import Synchronization

/// A group of threads for blocking work, started on demand and ended afterwards.
///
/// Work has a name, and one item per name runs at a time, so that a hanging one delays no other name.
/// Not a dispatch queue: on Linux those share their threads, about one per core, with Swift's tasks.
final class BlockingThreads: Sendable {
    typealias Work = @Sendable () -> Void

    private struct Piece {
        let name: ExactText
        let work: Work
    }

    private struct State {
        /// The names of the running work, one thread each.
        var running: Set<ExactText> = []
        var waiting: [Piece] = []
    }

    private let countMax: Int
    private let state = Mutex(State())

    /// Makes a group of at most `countMax` threads.
    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Runs the work on its own thread, after other work of that name and when a thread is free.
    func run(for name: String, _ work: @escaping Work) {
        let piece = Piece(name: ExactText(name), work: work)
        let startsThread = state.withLock { state in
            guard state.running.count < countMax, !state.running.contains(piece.name) else {
                state.waiting.append(piece)
                return false
            }
            state.running.insert(piece.name)
            return true
        }
        if startsThread {
            Thread.detachNewThread {
                var next: Piece? = piece
                while let piece = next {
                    piece.work()
                    next = self.takeNext(after: piece)
                }
            }
        }
    }

    private func takeNext(after done: Piece) -> Piece? {
        state.withLock { state in
            state.running.remove(done.name)
            // Each thread continues with one item: its end frees one name and one thread.
            let index = state.waiting.firstIndex { !state.running.contains($0.name) }
            guard let index else {
                return nil
            }
            let next = state.waiting.remove(at: index)
            state.running.insert(next.name)
            return next
        }
    }
}
