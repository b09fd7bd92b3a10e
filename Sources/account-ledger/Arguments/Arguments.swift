/// The rest of a command line, sorted by a subcommand's syntax.
struct Arguments: Sendable {
    /// Longest command line word that a message repeats, in characters.
    private static let quotedCharactersMax = 60

    private let command: [String]
    private var values: [String: String] = [:]
    private var secondValues: [String: String] = [:]
    private var flags: Set<String> = []
    private(set) var operands: [String] = []
    private(set) var asksForHelp = false

    /// Sorts the words that follow the subcommand's name.
    ///
    /// - Throws: `UsageError` that names the word which does not fit.
    init(_ words: some Sequence<String>, syntax: Syntax) throws(UsageError) {
        command = syntax.words
        var rest = Array(words)[...]
        var takesOptions = true
        while let word = rest.popFirst() {
            switch word {
            case "--" where takesOptions:
                takesOptions = false
            case "--help" where takesOptions, "-h" where takesOptions:
                asksForHelp = true
            // What begins with one dash and is longer than a slip may be the name of a key.
            case _
            where takesOptions && (word.hasPrefix("--") || word.hasPrefix("-") && word.count == 2):
                try takeOption(word, rest: &rest, syntax: syntax)
            default:
                operands.append(word)
            }
        }
        guard !asksForHelp else { return }
        try checkOperands(syntax)
    }

    /// The value of an option that was given.
    subscript(_ option: String) -> String? { values[option] }

    /// Whether a flag was given.
    func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option, read as something.
    ///
    /// - Throws: `UsageError` that says what would have been right.
    func value<Value>(
        of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try value(values[option], of: option, as: wanted, read)
    }

    /// The second value of an option that takes two, read as something.
    ///
    /// - Throws: `UsageError` that says what would have been right.
    func secondValue<Value>(
        of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        try value(secondValues[option], of: option, as: wanted, read)
    }

    private func value<Value>(
        _ text: String?, of option: String, as wanted: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text else { return nil }
        guard let value = read(text) else {
            throw misuse("--\(option) wants \(wanted), not '\(Self.quoted(text))'")
        }
        return value
    }

    /// An error about this command line.
    func misuse(_ problem: String) -> UsageError {
        UsageError(problem: problem, command: command)
    }

    /// A word as a message may repeat it: short, and without control characters.
    static func quoted(_ word: String) -> String {
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
            throw misuse("unknown option \(Self.quoted(spelled))")
        }
        guard values[option.name] == nil, !flags.contains(option.name) else {
            throw misuse("--\(option.name) is given twice")
        }
        guard option.placeholder != nil else {
            guard parts.count == 1 else { throw misuse("--\(option.name) takes no value") }
            flags.insert(option.name)
            return
        }
        // A value that looks like an option is a forgotten value; `--name=--value` says it is none.
        let next = parts.count == 2 ? String(parts[1]) : rest.first
        guard let value = next, !value.isEmpty, parts.count == 2 || !value.hasPrefix("--") else {
            throw misuse("--\(option.name) needs a value")
        }
        if parts.count == 1 { rest.removeFirst() }
        values[option.name] = value
        guard option.secondPlaceholder != nil else { return }
        guard let second = rest.popFirst(), !second.isEmpty, !second.hasPrefix("--") else {
            throw misuse("--\(option.name) needs two values")
        }
        secondValues[option.name] = second
    }

    private func checkOperands(_ syntax: Syntax) throws(UsageError) {
        if operands.count < syntax.operands.count {
            throw misuse("\(syntax.operands[operands.count].placeholder) is missing")
        }
        if operands.count > syntax.operands.count {
            throw misuse("surplus argument '\(Self.quoted(operands[syntax.operands.count]))'")
        }
    }
}
