/// The SQL in the string literals of some Swift files.
///
/// An interpolated constant, property or function whose text is in a literal of the same file, or of
/// the file named after its type, is replaced by that text, in which a literal argument replaces the
/// parameter; any other interpolation is replaced by a word that begins with ``placeholder``.
struct SQLTexts {
    /// The SQL of one literal.
    struct Text {
        /// The name of the `Statement`; without one, the file and the member that has the literal.
        let name: String
        /// The file's name without its extension.
        let file: String
        let sql: String
    }

    /// Begins the word that replaces an interpolation of unknown text.
    static let placeholder = "interpolated_"

    let all: [Text]

    init(_ files: [SourceTree.File]) {
        self.init(
            files.flatMap { file in
                var scanner = SwiftLiterals(
                    file.name, Array(file.lines.joined(separator: "\n").utf8))
                return scanner.all()
            })
    }

    /// Reads the literals of one file.
    init(file: String, source: String) {
        var scanner = SwiftLiterals(file, Array(source.utf8))
        self.init(scanner.all())
    }

    private init(_ literals: [SwiftLiteral]) {
        var texts: [Text?] = []
        var resolver = Resolver(literals)
        for index in literals.indices {
            let sql = resolver.text(index, depth: 0)
            let literal = literals[index]
            texts.append(
                Self.isSQL(sql) ? Text(name: literal.name, file: literal.file, sql: sql) : nil)
        }
        // A fragment is read where it is used.
        all = texts.indices.filter { !resolver.used.contains($0) }.compactMap { texts[$0] }
    }

    private static func isSQL(_ text: String) -> Bool {
        text.contains(
            /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN|WHERE|ctid)\b|_timestamp\(|pg_[a-z]/
        )
    }

    /// Replaces interpolations.
    private struct Resolver {
        let literals: [SwiftLiteral]
        /// The literals by file and declaration.
        private let declared: [String: [Int]]
        var used: Set<Int> = []

        init(_ literals: [SwiftLiteral]) {
            self.literals = literals
            declared = Dictionary(
                grouping: literals.indices,
                by: { "\(literals[$0].file).\(literals[$0].declaration)" })
        }

        mutating func text(_ index: Int, depth: Int, argument: String? = nil) -> String {
            var text = ""
            for segment in literals[index].segments {
                switch segment {
                case .text(let part): text += part
                case .expression(let source):
                    text += value(of: source, in: index, depth: depth, argument: argument)
                }
            }
            return text
        }

        private mutating func value(
            of source: String, in index: Int, depth: Int, argument: String?
        ) -> String {
            let literal = literals[index]
            // Rows in a FROM clause.
            if source.hasPrefix("ArrayRows.sql(") || literal.rowNames.contains(source) {
                return "unnest()"
            }
            let path = source.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
                .split(separator: ".")
            let name = path.last.map(String.init) ?? ""
            let type = path.dropLast().last.map(String.init) ?? "Self"
            let file = type == "Self" || type == "self" ? literal.file : type
            let found = declared["\(file).\(name)"] ?? []
            let before = file == literal.file ? found.last { $0 < index } : nil
            let after = argument == nil ? found.first { $0 != index } : nil
            guard depth < 4, let target = before ?? after,
                !source.hasPrefix("quote")
            else { return argument ?? SQLTexts.placeholder + name }
            used.insert(target)
            let call = source.wholeMatch(of: /[\w.]+\((?:\w+: )?"([^"\\]*)"\)/)
            return self.text(target, depth: depth + 1, argument: call.map { String($0.1) })
        }
    }
}

extension SourceTree.File {
    /// The file's name without its extension.
    var name: String {
        String((path.split(separator: "/").last ?? "").prefix { $0 != "." })
    }
}
