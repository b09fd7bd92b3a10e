import Dispatch
import Foundation
import Synchronization

/// Writes lines to standard error in their order, without making callers wait.
///
/// Lines are gathered for a moment and written together, whole lines at a time and never more than a
/// pipe takes in one piece: a write for each request would cost as much as answering it.
///
/// A reader that is too slow costs lines and not requests: what would not fit into the buffer is dropped
/// and counted.
final class LogWriter: Sendable {
    private struct State {
        var lines: [[UInt8]] = []
        var byteCount = 0
        var droppedCount = 0
        var isDraining = false
    }

    private static let bufferBytesMax = 4 << 20
    private static let gatheringTime = DispatchTimeInterval.milliseconds(5)
    private static let flushSecondsMax = 1.0

    private let queue = DispatchQueue(label: "account-ledger log")
    private let state = Mutex(State())

    /// Takes a line in; it is written soon.
    func write(_ line: [UInt8]) {
        let startsDraining = state.withLock { state in
            guard state.byteCount + line.count <= Self.bufferBytesMax else {
                state.droppedCount += 1
                return false
            }
            state.lines.append(line)
            state.byteCount += line.count
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if startsDraining {
            queue.asyncAfter(deadline: .now() + Self.gatheringTime) { self.drain() }
        }
    }

    /// Lines that were dropped since this was asked last.
    func takeDroppedCount() -> Int {
        state.withLock { state in
            defer { state.droppedCount = 0 }
            return state.droppedCount
        }
    }

    /// Waits until everything taken in before is written, but not for a reader that has stopped reading.
    func flush() {
        let last = DispatchWorkItem { self.drain() }
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + Self.flushSecondsMax)
    }

    private func drain() {
        let lines = state.withLock { state in
            let lines = state.lines
            state.lines = []
            state.byteCount = 0
            state.isDraining = false
            return lines
        }
        var piece: [UInt8] = []
        for line in lines {
            if piece.count + line.count > LogLine.bytesMax {
                put(piece)
                piece = []
            }
            piece += line
        }
        put(piece)
    }

    private func put(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        // A log that cannot be written must not end what it reports on.
        try? FileHandle.standardError.write(contentsOf: Data(piece))
    }
}
