import Foundation
import Synchronization

/// Standard output for long results: written in large pieces.
final class BufferedOutput: Sendable {
    private static let pieceBytes = 1 << 16

    private let pending = Mutex<[UInt8]>([])

    /// Adds text, and writes what has gathered when it is enough for a piece.
    ///
    /// - Throws: `Fault` when nobody takes it, as when a pager was closed.
    func add(_ text: String) throws(Fault) {
        let piece = pending.withLock { pending -> [UInt8] in
            pending.append(contentsOf: text.utf8)
            guard pending.count >= Self.pieceBytes else { return [] }
            defer { pending = [] }
            return pending
        }
        try write(piece)
    }

    /// Writes what is left.
    ///
    /// - Throws: `Fault` when nobody takes it.
    func finish() throws(Fault) {
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
            throw Fault("standard output can't be written")
        }
    }
}
