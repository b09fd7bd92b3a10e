import Foundation

/// Members of the responses' JSON that a later run needs.
enum KeptMembers {
    /// Returns the tab-separated texts of the members; nil when one is missing.
    ///
    /// For texts without escapes, such as tokens.
    static func line(_ members: [[UInt8]], in bytes: [UInt8], _ body: Range<Int>) -> [UInt8]? {
        var line: [UInt8] = []
        for member in members {
            let name = [UInt8(ascii: "\"")] + member + [UInt8(ascii: "\"")]
            guard let found = bytes.firstIndex(of: name, in: body) else { return nil }
            let after = bytes[(found + name.count)..<body.upperBound]
            guard let start = after.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let text = bytes[(start + 1)..<body.upperBound].prefix { $0 != UInt8(ascii: "\"") }
            if !line.isEmpty { line.append(UInt8(ascii: "\t")) }
            line += text
        }
        return line
    }

    static func write(_ lines: [[UInt8]], to path: String) throws {
        let bytes = lines.reduce(into: [UInt8]()) { all, line in
            all += line
            all.append(UInt8(ascii: "\n"))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}

/// Output that is not a result.
enum FileHandles {
    static func standardError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
