/// SQL as words, signs and groups in parentheses; without strings, comments and casts.
indirect enum SQLToken: Equatable {
    case word(String)
    case group([SQLToken])

    /// Splits a text into statements.
    static func statements(_ sql: String) -> [[SQLToken]] {
        let bare =
            sql
            .replacing(/--[^\n]*/, with: " ")
            .replacing(/'(?:[^']|'')*'/, with: " '' ")
            .replacing(/::\s*[a-z_]+(?:\[\])?/, with: " ")
        var words = bare.matches(of: /[A-Za-z_$'][A-Za-z0-9_$.']*|[<>=!]+|[^\s]/)
            .map { String($0.output) }[...]
        var statements: [[SQLToken]] = []
        while !words.isEmpty { statements.append(tokens(&words)) }
        return statements.flatMap { $0.split(separator: .word(";")).map(Array.init) }
    }

    private static func tokens(_ words: inout ArraySlice<String>) -> [SQLToken] {
        var tokens: [SQLToken] = []
        while let word = words.popFirst(), word != ")" {
            tokens.append(word == "(" ? .group(self.tokens(&words)) : .word(word))
        }
        return tokens
    }

    var word: String? {
        if case .word(let word) = self { word } else { nil }
    }

    var group: [SQLToken]? {
        if case .group(let tokens) = self { tokens } else { nil }
    }

    /// Whether this is a query in parentheses.
    var isQuery: Bool {
        let first = group?.first?.word ?? ""
        return ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(first)
    }
}

extension [SQLToken] {
    func word(_ index: Int) -> String? {
        indices.contains(index) ? self[index].word : nil
    }

    /// All words, those of queries in parentheses included.
    var allWords: [String] {
        flatMap { $0.group.map { ["("] + $0.allWords + [")"] } ?? [$0.word ?? ""] }
    }

    /// The words of this query alone.
    var ownWords: [String] {
        flatMap { token -> [String] in
            guard let group = token.group else { return [token.word ?? ""] }
            return token.isQuery ? ["(", ")"] : ["("] + group.ownWords + [")"]
        }
    }

    /// This query, or the parts of a UNION, and the queries in parentheses.
    var queries: [[SQLToken]] {
        let parts = split { ["UNION", "EXCEPT", "INTERSECT"].contains($0.word ?? "") }
        return parts.map(Array.init) + flatMap(\.innerQueries)
    }
}

extension SQLToken {
    fileprivate var innerQueries: [[SQLToken]] {
        guard let group else { return [] }
        return isQuery ? group.queries : group.flatMap(\.innerQueries)
    }
}
