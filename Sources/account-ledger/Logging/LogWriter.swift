import Dispatch
import Foundation
import Synchronization

/// Writes lines to standard error in their order, without making callers wait.
///
/// A line after a pause is written at once. Lines that come thick are gathered and written together,
/// whole lines at a time and never more than a pipe takes in one piece: a write for each request would
/// cost as much as answering it.
///
/// A reader that is too slow costs lines and not requests: what would not fit into the buffer is dropped
/// and counted.
final class LogWriter: Sendable {
    private struct State {
        /// Whole lines that are written together.
        var pieces: [[UInt8]] = []
        var byteCount = 0
        var isDraining = false
        /// When what is taken in next may be written.
        var pauseEnd = DispatchTime.now()

        mutating func append(_ line: [UInt8]) {
            byteCount += line.count
            if let last = pieces.indices.last, pieces[last].count + line.count <= LogLine.bytesMax {
                pieces[last] += line
                return
            }
            var piece: [UInt8] = []
            piece.reserveCapacity(LogLine.bytesMax)
            piece += line
            pieces.append(piece)
        }
    }

    private static let bufferBytesMax = 4 << 20
    private static let pause = DispatchTimeInterval.milliseconds(50)
    private static let flushSecondsMax = 1.0

    private let queue = DispatchQueue(label: "account-ledger log")
    private let state = Mutex(State())
    private let droppedCount = Atomic(0)

    /// Takes a line in; it is written soon.
    func write(_ line: [UInt8]) {
        let drainTime = state.withLock { state -> DispatchTime? in
            guard state.byteCount + line.count <= Self.bufferBytesMax else {
                droppedCount.add(1, ordering: .relaxed)
                return nil
            }
            state.append(line)
            guard !state.isDraining else { return nil }
            state.isDraining = true
            return state.pauseEnd
        }
        guard let drainTime else { return }
        queue.asyncAfter(deadline: drainTime) { self.drain() }
    }

    /// Lines that were dropped since this was asked last.
    func takeDroppedCount() -> Int {
        // Nearly always there are none, and reading that costs nothing.
        guard droppedCount.load(ordering: .relaxed) > 0 else { return 0 }
        return droppedCount.exchange(0, ordering: .relaxed)
    }

    /// Waits until everything taken in before is written, but not for a reader that has stopped reading.
    func flush() {
        let last = DispatchWorkItem { self.drain() }
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + Self.flushSecondsMax)
    }

    private func drain() {
        let pieces = state.withLock { state in
            defer {
                state.pieces = []
                state.byteCount = 0
                state.isDraining = false
                state.pauseEnd = .now() + Self.pause
            }
            return state.pieces
        }
        for piece in pieces {
            // A log that cannot be written must not end what it reports on.
            try? FileHandle.standardError.write(contentsOf: Data(piece))
        }
    }
}
