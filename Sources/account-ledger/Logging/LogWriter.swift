import Dispatch
import Foundation
import Synchronization

/// Writes lines to standard error in order, without blocking callers.
///
/// A line after a pause is written immediately. Lines in quick succession are written together, whole
/// lines at a time and never more than a pipe writes atomically: a write per request would cost as much
/// as answering it.
///
/// A slow reader loses lines instead of delaying requests: lines that do not fit into the buffer are
/// dropped and counted.
final class LogWriter: Sendable {
    private struct State {
        /// Chunks of whole lines, each written with one call.
        var chunks: [[UInt8]] = []
        var byteCount = 0
        var isDraining = false
        /// The earliest time of the next write.
        var pauseEnd = DispatchTime.now()

        mutating func append(_ line: [UInt8]) {
            byteCount += line.count
            if let last = chunks.indices.last, chunks[last].count + line.count <= LogLine.bytesMax {
                chunks[last] += line
                return
            }
            var chunk: [UInt8] = []
            chunk.reserveCapacity(LogLine.bytesMax)
            chunk += line
            chunks.append(chunk)
        }
    }

    private static let bufferBytesMax = 4 << 20
    private static let pause = DispatchTimeInterval.milliseconds(50)
    private static let flushSecondsMax = 1.0

    // No `BlockingExecutor`: callers do not suspend, drains are delayed, and `flush` waits for its thread.
    private let queue = DispatchQueue(label: "account-ledger log")
    private let state = Mutex(State())
    private let droppedCount = Atomic(0)

    /// Enqueues a line.
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

    /// Returns and resets the number of dropped lines.
    func resetDroppedCount() -> Int {
        // The fast path: usually no line was dropped.
        guard droppedCount.load(ordering: .relaxed) > 0 else { return 0 }
        return droppedCount.exchange(0, ordering: .relaxed)
    }

    /// Waits until all enqueued lines are written, but not for a reader that has stopped reading.
    func flush() {
        let last = DispatchWorkItem { self.drain() }
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + Self.flushSecondsMax)
    }

    private func drain() {
        let chunks = state.withLock { state in
            defer {
                state.chunks = []
                state.byteCount = 0
                state.isDraining = false
                state.pauseEnd = .now() + Self.pause
            }
            return state.chunks
        }
        for chunk in chunks {
            // A log that can't be written must not end the process.
            try? FileHandle.standardError.write(contentsOf: Data(chunk))
        }
    }
}
