internal import Foundation
internal import Synchronization

/// Output for people: results on standard output, faults on standard error.
package enum Terminal {
    private static let failed = Atomic(false)

    /// Whether a result could not be printed, for example because the disk is full or a pager was closed.
    package static var hasFailed: Bool { failed.load(ordering: .relaxed) }

    /// Prints text unchanged; a write error is kept for ``hasFailed``.
    package static func print(_ text: String) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        } catch {
            failed.store(true, ordering: .relaxed)
        }
    }

    /// Whether standard error is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Prints one line on standard error.
    package static func printError(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? FileHandle.standardError.write(
            contentsOf: Data("\(ProcessInfo.processInfo.processName): \(line)\n".utf8))
    }
}
