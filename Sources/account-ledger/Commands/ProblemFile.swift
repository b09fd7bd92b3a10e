import CommandLine
import Foundation
import JSON
import Ledger
import LedgerImport
import Synchronization

/// A file with a JSON line for each problem of an import; it has no personal data.
final class ProblemFile: Sendable {
    private static let bufferBytes = 65_536

    private struct State {
        var writer = JSONWriter(reserving: ProblemFile.bufferBytes)
        var hasFailed = false
    }

    private let file: NewFile
    private let handle: FileHandle
    private let state = Mutex(State())

    /// - Throws: `Fault` when the file can't be written.
    init(_ file: NewFile) throws(Fault) {
        guard let handle = FileHandle(forWritingAtPath: file.partialPath) else {
            throw Fault("can't write \(file.path)")
        }
        self.file = file
        self.handle = handle
    }

    /// Adds a problem of the record that begins in a line.
    func add(_ problem: ImportProblem, line: Int) {
        state.withLock { state in
            state.writer.line { writer in
                writer.name("line")
                writer.json(Array("\(line)".utf8))
                writer.member("problem", problem.kind)
                if let place = problem.place { writer.member("with", place.rawValue) }
                if let provider = problem.provider {
                    writer.member("provider", provider.description)
                }
                if problem.isOfKept { writer.member("account", "kept") }
            }
            if state.writer.bytes.count >= Self.bufferBytes { flush(&state) }
        }
    }

    /// Writes the problems so far, so that an import that is killed leaves them in the temporary file.
    func flush() {
        state.withLock { state in flush(&state) }
    }

    /// Completes the file.
    ///
    /// - Throws: `Fault` when it can't be written.
    func finish() throws(Fault) {
        let hasFailed = state.withLock { state in
            flush(&state)
            return state.hasFailed
        }
        guard !hasFailed, (try? handle.close()) != nil else {
            throw Fault("can't write \(file.path)")
        }
        try file.keep()
    }

    private func flush(_ state: inout State) {
        guard !state.writer.bytes.isEmpty else { return }
        do { try handle.write(contentsOf: Data(state.writer.bytes)) } catch {
            state.hasFailed = true
        }
        state.writer = JSONWriter(reserving: Self.bufferBytes)
    }
}
