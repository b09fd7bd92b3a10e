/// The reason why a command failed: one line for the operator, without secrets.
package struct Fault: Error, CustomStringConvertible {
    /// The line.
    package let description: String

    /// Creates a fault of its line.
    package init(_ description: String) {
        self.description = description
    }
}

/// A mistake on the command line, and the command whose help explains it.
package struct UsageError: Error, CustomStringConvertible {
    let problem: String
    /// The program and the words of the subcommand.
    let command: [String]

    /// The problem and the command that prints the help.
    package var description: String {
        let help = (command + ["--help"]).joined(separator: " ")
        return "\(problem); see \(help)"
    }
}
