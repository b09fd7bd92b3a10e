/// The reason why a command failed: one line for the operator, without secrets.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A mistake on the command line, and the command whose help explains it.
struct UsageError: Error, CustomStringConvertible {
    let problem: String
    let command: [String]

    var description: String {
        let help = ([Syntax.program] + command + ["--help"]).joined(separator: " ")
        return "\(problem); see \(help)"
    }
}
