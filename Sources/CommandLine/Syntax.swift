/// The arguments that a subcommand accepts, and its help.
package struct Syntax: Sendable {
    /// A positional argument.
    package struct Operand: Sendable {
        let placeholder: String
        let meaning: String

        /// Describes an operand.
        package init(placeholder: String, meaning: String) {
            self.placeholder = placeholder
            self.meaning = meaning
        }
    }

    /// An environment variable that the help names.
    package struct Variable: Sendable {
        let name: String
        let defaultText: String?
        let range: ClosedRange<Int64>?
        let meaning: String

        /// Describes a variable.
        ///
        /// - Parameters:
        ///   - name: Its name.
        ///   - defaultText: The value that holds while it is unset.
        ///   - range: The range of a whole number.
        ///   - meaning: One line for the help.
        package init(
            name: String, defaultText: String?, range: ClosedRange<Int64>?, meaning: String
        ) {
            self.name = name
            self.defaultText = defaultText
            self.range = range
            self.meaning = meaning
        }
    }

    /// An option `--name value`, or a flag `--name` when it has no placeholder.
    package struct Option: Sendable {
        let name: String
        var placeholder: String?
        /// Set for an option `--name value value`.
        var secondPlaceholder: String?
        let meaning: String

        /// Describes an option.
        package init(
            name: String, placeholder: String? = nil, secondPlaceholder: String? = nil,
            meaning: String
        ) {
            self.name = name
            self.placeholder = placeholder
            self.secondPlaceholder = secondPlaceholder
            self.meaning = meaning
        }

        var spelling: String {
            (["--\(name)"] + [placeholder, secondPlaceholder].compactMap(\.self))
                .joined(separator: " ")
        }
    }

    /// The words that name the subcommand, such as `keys init`.
    package let words: [String]
    let summary: String
    let operands: [Operand]
    let options: [Option]
    /// Environment variables that the subcommand reads.
    let variables: [Variable]
    /// Further paragraphs of the help.
    let details: String

    /// Describes a subcommand.
    package init(
        words: [String], summary: String, operands: [Operand], options: [Option],
        variables: [Variable], details: String
    ) {
        self.words = words
        self.summary = summary
        self.operands = operands
        self.options = options
        self.variables = variables
        self.details = details
    }

    var name: String { words.joined(separator: " ") }

    /// Whether a word is one of the options, with or without a value, or asks for help.
    func hasOption(_ word: String) -> Bool {
        let spelled = word.prefix { $0 != "=" }
        return ["--", "--help"].contains(spelled)
            || options.contains { spelled == "--\($0.name)" }
    }
}
