import Foundation

/// Output for people: results on standard output, faults on standard error.
enum Terminal {
    /// Prints text unchanged; write errors are ignored.
    static func print(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Whether standard error is a terminal.
    static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

    /// Prints one line on standard error.
    static func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? FileHandle.standardError.write(contentsOf: Data("\(Syntax.program): \(line)\n".utf8))
    }
}
