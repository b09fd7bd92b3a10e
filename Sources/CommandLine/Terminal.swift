internal import Foundation

/// Output for people: results on standard output, faults on standard error.
package enum Terminal {
    /// Prints text unchanged; write errors are ignored.
    package static func print(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
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
