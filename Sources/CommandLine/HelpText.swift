/// The texts that `--help` prints, at every level.
struct HelpText {
    private static let columnWidth = 26

    let program: String

    /// The help of the whole program.
    func program(_ all: [Syntax], summary: String) -> String {
        var text = """
            \(summary)

            Usage: \(program) SUBCOMMAND [OPTIONS]

            Subcommands:

            """
        text += all.map { row($0.name, $0.summary) }.joined()
        text += """

            \(program) SUBCOMMAND --help describes a subcommand.
            \(program) --version prints the version.
            \(program) completion bash|zsh prints a script that completes these in a shell.

            """
        return text
    }

    /// The help of a word that only groups subcommands, such as `keys`.
    func group(_ word: String, _ members: [Syntax]) -> String {
        "Usage: \(program) \(word) SUBCOMMAND [OPTIONS]\n\nSubcommands:\n"
            + members.map { row($0.name, $0.summary) }.joined()
    }

    /// The help of one subcommand.
    func subcommand(_ syntax: Syntax) -> String {
        var usage = [program] + syntax.words
        if !syntax.options.isEmpty { usage.append("[OPTIONS]") }
        usage += syntax.operands.map(\.placeholder)
        var text = "\(syntax.summary)\n\nUsage: \(usage.joined(separator: " "))\n"
        if !syntax.details.isEmpty { text += "\n\(syntax.details)\n" }
        if !syntax.operands.isEmpty {
            text += "\nArguments:\n"
            text += syntax.operands.map { row($0.placeholder, $0.meaning) }.joined()
        }
        text += "\nOptions:\n"
        text += syntax.options.map { row($0.spelling, $0.meaning) }.joined()
        text += row("--help", "print this help")
        if !syntax.variables.isEmpty {
            text += "\nEnvironment:\n" + syntax.variables.map { row(of: $0) }.joined()
        }
        return text
    }

    private func row(of variable: Syntax.Variable) -> String {
        let byDefault = variable.defaultText.map { " [\($0)]" } ?? ""
        let range = variable.range.map { "; \($0.lowerBound) to \($0.upperBound)" } ?? ""
        return "  \(variable.name)\(byDefault)\n      \(variable.meaning)\(range)\n"
    }

    private func row(_ term: String, _ meaning: String) -> String {
        let padding = String(repeating: " ", count: max(2, Self.columnWidth - term.count))
        return "  \(term)\(padding)\(meaning)\n"
    }
}
