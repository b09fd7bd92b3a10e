/// Why a command could not be carried out: one line for the operator, without secrets.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What is wrong with a command line, and which command's help explains it.
struct UsageError: Error, CustomStringConvertible {
    let problem: String
    let command: [String]

    var description: String {
        let help = ([Syntax.program] + command + ["--help"]).joined(separator: " ")
        return "\(problem); see \(help)"
    }
}
