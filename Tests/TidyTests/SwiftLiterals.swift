/// A string literal of a Swift file.
struct SwiftLiteral {
    enum Segment {
        case text(String)
        /// The source of an interpolation.
        case expression(String)
    }

    let segments: [Segment]
    let file: String
    /// The constant, variable or function that was declared last before the literal.
    let declaration: String
    /// The name of the statement that the literal belongs to, or else the file and member.
    let name: String
    /// The local constants whose value is `ArrayRows.sql`, and the rows of a `RowsStatement`.
    let rowNames: Set<String>
}

/// Finds the string literals of a Swift file, and the types that its code declares and names.
struct SwiftLiterals {
    /// The types at the top level that other files can name.
    private(set) var declaredTypes: Set<String> = []
    /// The other types at the top level.
    private(set) var privateTypes: Set<String> = []
    /// The names in upper case, without those in comments and texts, and without members.
    private(set) var typeNames: Set<String> = []
    private let file: String
    private let source: [UInt8]
    private var index = 0
    private var lineStart = 0
    private var declaration = ""
    private var member = ""
    private var statement: String?
    private var awaitsName = false
    private var rowNames: Set<String> = []
    /// The last two words or signs outside of literals.
    private var last = ["", ""]

    init(_ file: String, _ source: [UInt8]) {
        self.file = file
        self.source = source
    }

    mutating func all() -> [SwiftLiteral] {
        var literals: [SwiftLiteral] = []
        while index < source.count {
            switch source[index] {
            case UInt8(ascii: "\n"):
                index += 1
                lineStart = index
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
                while index < source.count, source[index] != UInt8(ascii: "\n") { index += 1 }
            case UInt8(ascii: "\"") where opensLiteral, UInt8(ascii: "#") where opensLiteral:
                let isContinued = last[1] == "+" && !last[0].isEmpty
                let prefix = isContinued ? [SwiftLiteral.Segment.expression(last[0])] : []
                if let literal = add(prefix + literal()) { literals.append(literal) }
                note("\"")
            case let byte where Self.isWord(byte):
                word()
            case UInt8(ascii: " "):
                index += 1
            case let byte:
                note(String(UnicodeScalar(byte)))
                index += 1
            }
        }
        return literals
    }

    private func byte(_ offset: Int) -> UInt8 {
        index + offset < source.count ? source[index + offset] : 0
    }

    private var opensLiteral: Bool {
        source[index...].first { $0 != UInt8(ascii: "#") } == UInt8(ascii: "\"")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        let character = Character(UnicodeScalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber || character == "_")
    }

    private mutating func note(_ token: String) {
        last = [last[1], token]
    }

    private mutating func word() {
        let start = index
        while index < source.count, Self.isWord(source[index]) { index += 1 }
        let word = String(decoding: source[start..<index], as: UTF8.self)
        if ["let", "var", "func"].contains(last[1]) {
            declaration = word
            let indent = source[lineStart...].prefix { $0 == UInt8(ascii: " ") }.count
            if indent <= 4 {
                (member, statement, rowNames) = (word, nil, rowNames.filter { $0 != "rows" })
            }
        }
        noteType(word)
        if word == "Statement" || word == "RowsStatement", byte(0) == UInt8(ascii: "(") {
            (awaitsName, statement) = (true, nil)
            if word == "RowsStatement" { rowNames.insert("rows") }
        }
        if word == "ArrayRows" { rowNames.insert(declaration) }
        note(word)
    }

    private mutating func noteType(_ word: String) {
        guard word.first?.isUppercase == true, last[1] != "." else { return }
        typeNames.insert(word)
        let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        let line = source[lineStart...]
        let isHidden = line.starts(with: "private".utf8) || line.starts(with: "fileprivate".utf8)
        guard kinds.contains(last[1]), line.first != UInt8(ascii: " ") else { return }
        if isHidden { privateTypes.insert(word) } else { declaredTypes.insert(word) }
    }

    /// Records the name of a statement; returns any other literal.
    private mutating func add(_ segments: [SwiftLiteral.Segment]) -> SwiftLiteral? {
        if awaitsName {
            awaitsName = false
            let parts = segments.map { segment in
                if case .text(let text) = segment { text } else { "*" }
            }
            let name = parts.joined()
            if !name.contains(" ") {
                statement = parts.contains("*") ? "\(file).\(name)" : name
                return nil
            }
        }
        return SwiftLiteral(
            segments: segments, file: file, declaration: declaration,
            name: statement ?? "\(file).\(member)", rowNames: rowNames)
    }

    /// Reads the literal that begins here.
    private mutating func literal() -> [SwiftLiteral.Segment] {
        let hashes = source[index...].prefix { $0 == UInt8(ascii: "#") }.count
        index += hashes
        let quotes = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"") ? 3 : 1
        index += quotes
        let end =
            Array(repeating: UInt8(ascii: "\""), count: quotes)
            + Array(repeating: UInt8(ascii: "#"), count: hashes)
        let escape =
            [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: hashes)
        var segments: [SwiftLiteral.Segment] = []
        var text: [UInt8] = []
        while index < source.count, !source[index...].starts(with: end) {
            guard source[index...].starts(with: escape) else {
                text.append(source[index])
                index += 1
                continue
            }
            index += escape.count
            guard byte(0) == UInt8(ascii: "(") else {
                text.append(byte(0) == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte(0))
                index += 1
                continue
            }
            segments.append(.text(String(decoding: text, as: UTF8.self)))
            text = []
            segments.append(.expression(interpolation()))
        }
        index += end.count
        return segments + [.text(String(decoding: text, as: UTF8.self))]
    }

    /// Reads an interpolation from its parenthesis on.
    private mutating func interpolation() -> String {
        let start = index + 1
        var depth = 0
        repeat {
            switch source[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "\""):
                _ = literal()
                continue
            default: break
            }
            index += 1
        } while depth > 0 && index < source.count
        var inner = SwiftLiterals(file, Array(source[start..<(index - 1)]))
        _ = inner.all()
        typeNames.formUnion(inner.typeNames)
        return String(decoding: source[start..<(index - 1)], as: UTF8.self)
    }
}
