/// The texts that `--help` prints, at every level.
enum HelpText {
    private static let columnWidth = 26

    /// The help of the whole program.
    static func program(_ all: [Syntax]) -> String {
        var text = """
            Records which sign-in identities belong to which account, in a log that can be verified.

            Usage: \(Syntax.program) SUBCOMMAND [OPTIONS]

            Subcommands:

            """
        text += all.map { row($0.name, $0.summary) }.joined()
        text += """

            \(Syntax.program) SUBCOMMAND --help describes a subcommand.
            \(Syntax.program) --version prints the version.

            """
        return text
    }

    /// The help of a word that only groups subcommands, such as `keys`.
    static func group(_ word: String, _ members: [Syntax]) -> String {
        "Usage: \(Syntax.program) \(word) SUBCOMMAND [OPTIONS]\n\nSubcommands:\n"
            + members.map { row($0.name, $0.summary) }.joined()
    }

    /// The help of one subcommand.
    static func subcommand(_ syntax: Syntax) -> String {
        var usage = [Syntax.program] + syntax.words
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
        if !syntax.settings.isEmpty {
            text += "\nEnvironment:\n" + syntax.settings.map(setting).joined()
        }
        return text
    }

    private static func setting(_ setting: Setting) -> String {
        let byDefault = setting.defaultText.map { " [\($0)]" } ?? ""
        let range = setting.range.map { "; \($0.lowerBound) to \($0.upperBound)" } ?? ""
        return "  \(setting.name)\(byDefault)\n      \(setting.meaning)\(range)\n"
    }

    private static func row(_ term: String, _ meaning: String) -> String {
        let padding = String(repeating: " ", count: max(2, columnWidth - term.count))
        return "  \(term)\(padding)\(meaning)\n"
    }
}
