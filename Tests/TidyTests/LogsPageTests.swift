import Testing

/// The page of the docs that lists the lines of the log.
@Suite struct LogsPageTests {
    /// A message with its levels and the names of its fields.
    private struct Line: Equatable, CustomStringConvertible {
        let message: String
        var levels: Set<String>
        var fields: Set<String>

        var description: String { "\(message): \(levels.sorted()), \(fields.sorted())" }
    }

    @Test func `the docs list exactly the existing lines of the log`() throws {
        let written = try Self.writtenLines()
        let row = /\| `([^`]+)` \| ([a-z, ]+) \|([^|]*)\|/
        let documented = try SourceTree.lines(of: "docs/logs.md")
            .compactMap { $0.prefixMatch(of: row)?.output }
            // The rows of fields have a type in the second column.
            .filter { !["text", "number"].contains($0.2) }
            .map { Line(message: String($0.1), levels: Self.words($0.2), fields: Self.words($0.3)) }
        #expect(written.count > 50)
        #expect(written == documented.sorted { $0.message < $1.message })
    }

    @Test func `the docs describe exactly the existing fields`() throws {
        let common: Set = ["ts", "level", "msg"]
        let written = try Self.writtenLines().reduce(into: common) { $0.formUnion($1.fields) }
        let row = /\| `([a-z_]+)` \| (?:text|number) \|/
        let documented = try SourceTree.lines(of: "docs/logs.md")
            .compactMap { $0.prefixMatch(of: row).map { String($0.output.1) } }
        #expect(written.sorted() == documented.sorted())
    }

    private static func words(_ cell: Substring) -> Set<String> {
        Set(cell.matches(of: /[a-z_]+/).map { String($0.output) })
    }

    /// Reads each call that writes a line; calls with the same message are one line.
    private static func writtenLines() throws -> [Line] {
        var lines: [String: Line] = [:]
        let call =
            #/
            (?: log\.write | put ) \( \s*
            ( Self\.level\(of:\ request\) | \.[a-z]+ ) , \s*
            ( "[^"]+" | [a-z.]+\(of:\ reply\) )
            /#
        for file in try SourceTree(["Sources/account-ledger"]).files {
            let source = file.lines.joined(separator: "\n")
            for match in source.matches(of: call) {
                let fields = arguments(source[match.range.upperBound...])
                    .matches(of: /"([a-z_]+)":/).map { String($0.output.1) }
                let levels =
                    match.output.1.hasPrefix("Self")
                    ? ["debug", "info", "warning", "error"] : [String(match.output.1.dropFirst())]
                let texts =
                    match.output.2.hasPrefix("\"")
                    ? [String(match.output.2.dropFirst().dropLast())] : removals(in: source)
                for text in texts {
                    lines[text, default: Line(message: text, levels: [], fields: [])]
                        .levels.formUnion(levels)
                    lines[text]?.fields.formUnion(fields)
                }
            }
        }
        return lines.values.sorted { $0.message < $1.message }
    }

    /// The texts of the function that names an executed removal.
    private static func removals(in source: String) -> [String] {
        guard let start = source.firstRange(of: "func text(of reply") else { return [] }
        return source[start.upperBound...].matches(of: /"([^"]+)"/).map { String($0.output.1) }
    }

    /// The rest of a call's arguments, up to its closing parenthesis.
    private static func arguments(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            switch text[index] {
            case "(": depth += 1
            case ")": depth -= 1
            default: continue
            }
            if depth == 0 { return text[..<index] }
        }
        return text
    }
}
