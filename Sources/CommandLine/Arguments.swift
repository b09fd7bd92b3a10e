/// The arguments of a subcommand, parsed by its syntax.
package struct Arguments: Sendable {
    /// Longest command line word that a message quotes, in characters.
    private static let quotedCharactersMax = 60

    /// The program and the words of the subcommand.
    private let command: [String]
    private var values: [String: String] = [:]
    private var secondValues: [String: String] = [:]
    private var flags: Set<String> = []
    /// The words that are no options, in order.
    package private(set) var operands: [String] = []
    /// Whether `--help` or `-h` is given.
    package private(set) var asksForHelp = false

    /// Parses the words that follow the subcommand's name.
    ///
    /// - Throws: `UsageError` that names the word which does not fit.
    package init(
        _ words: some Sequence<String>, syntax: Syntax, program: String
    ) throws(UsageError) {
        command = [program] + syntax.words
        var rest = Array(words)[...]
        var acceptsOptions = true
        while let word = rest.popFirst() {
            switch word {
            case "--" where acceptsOptions:
                acceptsOptions = false
            case "--help" where acceptsOptions, "-h" where acceptsOptions:
                asksForHelp = true
            // A longer word that begins with a single dash may be the name of a key.
            case _
            where acceptsOptions
                && (word.hasPrefix("--") || word.hasPrefix("-") && word.count == 2):
                try takeOption(word, rest: &rest, syntax: syntax)
            default:
                operands.append(word)
            }
        }
        guard !asksForHelp else { return }
        try checkOperands(syntax)
    }

    /// The value of an option; nil when it is absent.
    package subscript(_ option: String) -> String? { values[option] }

    /// Whether a flag was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// Parses the value of an option.
    ///
    /// - Throws: `UsageError` that states the expected form.
    package func value<Value>(
        of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try value(values[option], of: option, as: wanted, read)
    }

    /// Parses the second value of an option that takes two.
    ///
    /// - Throws: `UsageError` that states the expected form.
    package func secondValue<Value>(
        of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try value(secondValues[option], of: option, as: wanted, read)
    }

    private func value<Value>(
        _ text: String?, of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text else { return nil }
        guard let value = read(text) else {
            throw usageError("--\(option) must be \(wanted), not '\(Self.quoted(text))'")
        }
        return value
    }

    /// Creates a usage error about this command line.
    package func usageError(_ problem: String) -> UsageError {
        UsageError(problem: problem, command: command)
    }

    /// A word in the form in which messages quote it: short and without control characters.
    package static func quoted(_ word: String) -> String {
        String(
            String.UnicodeScalarView(
                word.unicodeScalars.prefix(quotedCharactersMax).map {
                    $0.properties.generalCategory == .control ? "?" : $0
                }))
    }

    private mutating func takeOption(
        _ word: String, rest: inout ArraySlice<String>, syntax: Syntax
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let spelled = String(parts[0])
        guard let option = syntax.options.first(where: { "--\($0.name)" == spelled }) else {
            throw usageError("unknown option \(Self.quoted(spelled))")
        }
        guard values[option.name] == nil, !flags.contains(option.name) else {
            throw usageError("duplicate option --\(option.name)")
        }
        guard option.placeholder != nil else {
            guard parts.count == 1 else { throw usageError("--\(option.name) takes no value") }
            flags.insert(option.name)
            return
        }
        // A next word that is an option means a forgotten value; `--name=--value` passes it.
        let next = parts.count == 2 ? String(parts[1]) : rest.first
        guard let value = next, !value.isEmpty, parts.count == 2 || !syntax.hasOption(value) else {
            throw usageError("--\(option.name) requires a value")
        }
        if parts.count == 1 { rest.removeFirst() }
        values[option.name] = value
        guard option.secondPlaceholder != nil else { return }
        guard let second = rest.popFirst(), !second.isEmpty, !syntax.hasOption(second) else {
            throw usageError("--\(option.name) requires two values")
        }
        secondValues[option.name] = second
    }

    private func checkOperands(_ syntax: Syntax) throws(UsageError) {
        if operands.count < syntax.operands.count {
            throw usageError("missing argument \(syntax.operands[operands.count].placeholder)")
        }
        if operands.count > syntax.operands.count {
            throw usageError(
                "unexpected argument '\(Self.quoted(operands[syntax.operands.count]))'")
        }
    }
}
