import Foundation

/// The tables of tamperings in `docs/append-only.md`.
struct TamperTable {
    static let heading = "## Detection"

    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/append-only.md").standardizedFileURL

    /// The cells of each row, by the name of the tampering in the second cell.
    let rows: [String: [String]]
    /// The names, in order.
    let names: [String]
    /// The names in the table of undetected cases, in order.
    let unnoticed: [String]

    init() throws {
        let lines = try String(contentsOf: Self.page, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != Self.heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let table = Self.table("| Review | Tampering |", in: section).filter { $0.count > 1 }
        names = table.map { $0[1] }
        rows = Dictionary(table.map { ($0[1], $0) }) { first, _ in first }
        unnoticed = Self.table("| Undetected |", in: section).compactMap(\.first)
    }

    /// Returns the cells of the rows of a table, found by the start of its head.
    private static func table(_ head: String, in lines: ArraySlice<Substring>) -> [[String]] {
        lines.drop { !$0.hasPrefix(head) }.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
