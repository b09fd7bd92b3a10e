/// A subcommand of the program: its syntax and its implementation.
package struct Subcommand<Context: Sendable>: Sendable {
    /// Runs the subcommand; a thrown error is one line for the operator.
    package typealias Body = @Sendable (Arguments, Context) async throws -> ExitCode

    let syntax: Syntax
    let body: Body

    /// Describes a subcommand.
    package init(syntax: Syntax, body: @escaping Body) {
        self.syntax = syntax
        self.body = body
    }
}

/// A program of subcommands: runs the one that a command line names, and prints help.
package struct Program<Context: Sendable>: Sendable {
    private let name: String
    private let summary: String
    private let version: String
    /// In the order of the help.
    private let subcommands: [Subcommand<Context>]

    /// Describes a program.
    package init(
        name: String, summary: String, version: String, subcommands: [Subcommand<Context>]
    ) {
        self.name = name
        self.summary = summary
        self.version = version
        self.subcommands = subcommands
    }

    /// Runs the subcommand that the words after the program's name ask for, or prints help.
    ///
    /// - Throws: `UsageError` for a wrong command line, and the errors of the subcommand.
    package func run(_ words: [String], in context: Context) async throws -> ExitCode {
        guard let first = words.first else {
            throw usageError("missing subcommand", in: [])
        }
        switch first {
        case "--version":
            Terminal.print("\(name) \(version)\n")
            return .success
        case "--help", "-h":
            return try printHelp(about: [])
        case "help":
            return try printHelp(about: Array(words.dropFirst()))
        case "completion":
            return try printCompletion(words.dropFirst())
        default:
            break
        }
        guard let subcommand = subcommands.first(where: { words.starts(with: $0.syntax.words) })
        else {
            return try incomplete(words)
        }
        let arguments = try Arguments(
            words.dropFirst(subcommand.syntax.words.count), syntax: subcommand.syntax, program: name
        )
        guard !arguments.asksForHelp else {
            Terminal.print(helpText.subcommand(subcommand.syntax))
            return .success
        }
        return try await subcommand.body(arguments, context)
    }

    private func printCompletion(_ words: ArraySlice<String>) throws(UsageError) -> ExitCode {
        guard words.count == 1, let word = words.first,
            let shell = CompletionScript.Shell(rawValue: word)
        else { throw usageError("completion requires a shell: bash or zsh", in: []) }
        Terminal.print(CompletionScript(program: name, syntaxes: syntaxes).text(for: shell))
        return .success
    }

    private func printHelp(about words: [String]) throws(UsageError) -> ExitCode {
        Terminal.print(try help(about: words))
        return .success
    }

    /// Describes the program, a group of subcommands or one of them.
    ///
    /// - Parameter words: The words after the program's name; none for the program.
    /// - Returns: The text that `--help` prints.
    /// - Throws: `UsageError` for words that name nothing.
    package func help(about words: [String]) throws(UsageError) -> String {
        if words.isEmpty { return helpText.program(syntaxes, summary: summary) }
        if let subcommand = subcommands.first(where: { $0.syntax.words == words }) {
            return helpText.subcommand(subcommand.syntax)
        }
        guard !members(of: words).isEmpty else {
            throw unknown(words.joined(separator: " "), in: [])
        }
        return helpText.group(words.joined(separator: " "), members(of: words))
    }

    /// Handles a group without a subcommand, a group with an unknown one, and an unknown word.
    private func incomplete(_ words: [String]) throws(UsageError) -> ExitCode {
        var group: [String] = []
        for word in words {
            guard !members(of: group + [word]).isEmpty else { break }
            group.append(word)
        }
        guard !group.isEmpty else { throw unknown(words[0], in: []) }
        guard words.count > group.count else {
            throw usageError("\(group.joined(separator: " ")) requires a subcommand", in: group)
        }
        let next = words[group.count]
        guard next != "--help", next != "-h" else { return try printHelp(about: group) }
        throw unknown(next, in: group)
    }

    private func members(of group: [String]) -> [Syntax] {
        syntaxes.filter { $0.words.count > group.count && $0.words.starts(with: group) }
    }

    private func unknown(_ word: String, in group: [String]) -> UsageError {
        let kind = word.hasPrefix("-") ? "option" : "subcommand"
        return usageError("unknown \(kind) '\(Arguments.quoted(word))'", in: group)
    }

    private func usageError(_ problem: String, in words: [String]) -> UsageError {
        UsageError(problem: problem, command: [name] + words)
    }

    /// The words of each subcommand, in the order of the help.
    package var words: [[String]] { syntaxes.map(\.words) }

    private var syntaxes: [Syntax] { subcommands.map(\.syntax) }

    private var helpText: HelpText { HelpText(program: name) }
}
