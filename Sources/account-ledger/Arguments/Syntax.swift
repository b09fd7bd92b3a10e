/// The arguments that a subcommand accepts, and its help.
struct Syntax: Sendable {
    static let program = "account-ledger"

    /// A positional argument.
    struct Operand: Sendable {
        let placeholder: String
        let meaning: String
    }

    /// An option `--name value`, or a flag `--name` when it has no placeholder.
    struct Option: Sendable {
        let name: String
        var placeholder: String?
        /// Set for an option `--name value value`.
        var secondPlaceholder: String?
        let meaning: String

        var spelling: String {
            (["--\(name)"] + [placeholder, secondPlaceholder].compactMap(\.self))
                .joined(separator: " ")
        }
    }

    /// The words that name the subcommand, such as `keys init`.
    let words: [String]
    let summary: String
    var operands: [Operand] = []
    var options: [Option] = []
    /// Environment variables that the subcommand reads.
    var settings: [Setting] = []
    /// Further paragraphs of the help.
    var details = ""

    var name: String { words.joined(separator: " ") }
}
