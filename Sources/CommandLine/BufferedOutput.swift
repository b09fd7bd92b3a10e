internal import Foundation
internal import Synchronization

/// Buffered standard output for long results.
package final class BufferedOutput: Sendable {
    private static let chunkBytes = 1 << 16

    private let pending = Mutex<[UInt8]>([])

    /// Creates an empty output.
    package init() {}

    /// Adds text, and writes the buffer when it is full.
    ///
    /// - Throws: `Fault` when the write fails, for example because a pager was closed.
    package func add(_ text: String) throws(Fault) {
        let chunk = pending.withLock { pending -> [UInt8] in
            pending.append(contentsOf: text.utf8)
            guard pending.count >= Self.chunkBytes else { return [] }
            defer { pending = [] }
            return pending
        }
        try write(chunk)
    }

    /// Writes the rest of the buffer.
    ///
    /// - Throws: `Fault` when the write fails.
    package func finish() throws(Fault) {
        try write(
            pending.withLock { pending in
                defer { pending = [] }
                return pending
            })
    }

    private func write(_ bytes: [UInt8]) throws(Fault) {
        guard !bytes.isEmpty else { return }
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(bytes))
        } catch {
            throw Fault("can't write to standard output")
        }
    }
}
