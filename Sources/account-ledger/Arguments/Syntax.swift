/// What a subcommand takes, and what its help says.
struct Syntax: Sendable {
    static let program = "account-ledger"

    /// A word that stands for itself by its place.
    struct Operand: Sendable {
        let placeholder: String
        let meaning: String
    }

    /// An option `--name value`, or a flag `--name` when it has no placeholder.
    struct Option: Sendable {
        let name: String
        var placeholder: String?
        /// Of an option `--name value value`.
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
    /// Environment variables that it reads.
    var settings: [Setting] = []
    /// Further paragraphs of the help.
    var details = ""

    var name: String { words.joined(separator: " ") }
}
