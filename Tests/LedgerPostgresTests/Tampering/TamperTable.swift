import Foundation

/// The rows of the table of tamperings in `docs/append-only.md`.
struct TamperTable {
    static let heading = "## Who notices what"

    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/append-only.md").standardizedFileURL

    /// The cells of each row, by the first.
    let rows: [String: [String]]
    /// The first cells, in their order.
    let names: [String]

    init() throws {
        let lines = try String(contentsOf: Self.page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != Self.heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let table = section.drop { !$0.hasPrefix("| Tampering |") }.dropFirst(2).prefix {
            $0.hasPrefix("|")
        }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        names = table.compactMap(\.first)
        rows = Dictionary(table.compactMap { cells in cells.first.map { ($0, cells) } }) {
            first, _ in first
        }
    }

    static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
