import Foundation

/// What people read: results on standard output, complaints on standard error.
enum Terminal {
    /// Prints text as it is; not being able to is ignored, as by other programs.
    static func print(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }

    /// Whether somebody looks at standard error.
    static var isWatched: Bool { isatty(STDERR_FILENO) == 1 }

    /// Prints one line that says what is wrong.
    static func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? FileHandle.standardError.write(contentsOf: Data("\(Syntax.program): \(line)\n".utf8))
    }
}
