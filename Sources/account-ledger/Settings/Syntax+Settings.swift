import CommandLine

extension Syntax {
    /// The name of the program.
    static let program = "account-ledger"

    /// Describes a subcommand that reads these settings.
    init(
        words: [String], summary: String, operands: [Operand] = [], options: [Option] = [],
        settings: [Setting] = [], details: String = ""
    ) {
        self.init(
            words: words, summary: summary, operands: operands, options: options,
            variables: settings.map {
                Variable(
                    name: $0.name, defaultText: $0.defaultText, range: $0.range,
                    meaning: $0.meaning)
            }, details: details)
    }
}
