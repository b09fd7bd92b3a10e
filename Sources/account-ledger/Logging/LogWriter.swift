import Dispatch
import Foundation
import Synchronization

/// Writes lines to standard error in their order, one write a line, without making callers wait.
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
        if startsDraining { queue.async { self.drain() } }
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
        let last = DispatchWorkItem {}
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + Self.flushSecondsMax)
    }

    private func drain() {
        while true {
            let lines = state.withLock { state in
                let lines = state.lines
                state.lines = []
                state.byteCount = 0
                state.isDraining = !lines.isEmpty
                return lines
            }
            if lines.isEmpty { return }
            for line in lines {
                // A log that cannot be written must not end what it reports on.
                try? FileHandle.standardError.write(contentsOf: Data(line))
            }
        }
    }
}
