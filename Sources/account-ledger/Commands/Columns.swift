/// Wraps text to the width of a terminal.
enum Columns {
    static let max = 100

    /// Joins parts with two spaces, on as few lines as they need.
    ///
    /// A part that is longer than a line is broken at the end of the line. Every line but the first is
    /// indented, and each ends with a line feed.
    static func lines(_ parts: [String], indent: Int = 4, separator: String = "  ") -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for part in parts {
            var rest = part[...]
            if !line.isEmpty, line.count + separator.count + rest.count <= max {
                line += separator + rest
                continue
            }
            if !line.isEmpty {
                lines.append(line)
                line = margin
            }
            while line.count + rest.count > max {
                let room = max - line.count
                lines.append(line + rest.prefix(room))
                rest = rest.dropFirst(room)
                line = margin
            }
            line += rest
        }
        if !line.isEmpty { lines.append(line) }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Wraps the words of a sentence on as few lines as they need.
    static func lines(words sentence: String, indent: Int = 4) -> String {
        lines(
            sentence.split(separator: " ").map { String($0) }, indent: indent, separator: " ")
    }
}
