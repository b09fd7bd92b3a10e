import Foundation

/// The types that the comments of a JavaScript module declare.
struct JSDoc {
    /// A tag of a comment: `@param {TYPE} NAME`; the name is in brackets where it is optional.
    struct Tag {
        let kind: Substring
        let type: String
        let name: Substring
        let isOptional: Bool
    }

    /// A comment, and the code up to the next one.
    struct Part {
        let tags: [Tag]
        let code: Substring

        /// The name of the function or method that follows the comment.
        var function: String? {
            code.firstMatch(of: /^\s*(?:export )?(?:async )?(?:function )?(#?\w+)\(/)
                .map { String($0.output.1) }
        }
    }

    let parts: [Part]
    private var types: [Substring: MemberPaths] = [:]
    /// The types of `@typedef`, as they are written.
    private(set) var texts: [Substring: String] = [:]

    init(_ source: String) {
        parts = source.split(separator: "/**").dropFirst().map { part in
            let end = part.firstRange(of: "*/")?.lowerBound ?? part.endIndex
            return Part(tags: Self.tags(of: part[..<end]), code: part[end...].dropFirst(2))
        }
        var object: (name: Substring, members: [(String, Bool, MemberPaths)])?
        for tag in parts.flatMap(\.tags) {
            switch tag.kind {
            case "typedef":
                object = tag.type == "object" ? (name: tag.name, members: []) : nil
                texts[tag.name] = tag.type
                types[tag.name] = members(of: tag.type)
            case "property":
                object?.members.append((String(tag.name), !tag.isOptional, members(of: tag.type)))
                if let object { types[object.name] = .object(object.members) }
            default: break
            }
        }
    }

    /// Reads the tags that have a type.
    private static func tags(of comment: Substring) -> [Tag] {
        let text = comment.replacing(/\n\s*\* ?/, with: "\n")
        return text.matches(of: /@(\w+) \{/).map { match in
            var depth = 1
            let rest = text[match.range.upperBound...]
            let type = rest.prefix { character in
                depth += character == "{" ? 1 : character == "}" ? -1 : 0
                return depth > 0
            }
            let name = rest[type.endIndex...].dropFirst().drop { $0 == " " }
            return Tag(
                kind: match.output.1, type: String(type),
                name: name.drop { $0 == "[" }.prefix { $0.isLetter || $0 == "_" },
                isOptional: name.hasPrefix("["))
        }
    }

    /// Returns the members of a type; none of a type that is not declared before, such as `string`.
    func members(of type: String) -> MemberPaths {
        var tokens = type.matches(of: /\w+|"[^"]*"|[{}()<>,:?|&]|\[\]|=>/).map(\.output)[...]
        return union(&tokens)
    }

    private func union(_ tokens: inout ArraySlice<Substring>) -> MemberPaths {
        if tokens.first == "|" { tokens.removeFirst() }
        var members = intersection(&tokens)
        while tokens.first == "|" {
            tokens.removeFirst()
            members = members.or(intersection(&tokens))
        }
        return members
    }

    private func intersection(_ tokens: inout ArraySlice<Substring>) -> MemberPaths {
        var members = list(&tokens)
        while tokens.first == "&" {
            tokens.removeFirst()
            members = members.and(list(&tokens))
        }
        return members
    }

    private func list(_ tokens: inout ArraySlice<Substring>) -> MemberPaths {
        var members = single(&tokens)
        while tokens.first == "[]" {
            tokens.removeFirst()
            members = members.list
        }
        return members
    }

    private func single(_ tokens: inout ArraySlice<Substring>) -> MemberPaths {
        guard let token = tokens.popFirst() else { return MemberPaths() }
        switch token {
        case "(":
            let members = union(&tokens)
            if tokens.first == ")" { tokens.removeFirst() }
            return members
        case "{": return object(&tokens)
        default:
            guard tokens.first == "<" else { return types[token] ?? MemberPaths() }
            var arguments: [MemberPaths] = []
            while let separator = tokens.popFirst(), separator != ">" {
                arguments.append(union(&tokens))
            }
            return token == "Promise" ? arguments.first ?? MemberPaths() : MemberPaths()
        }
    }

    private func object(_ tokens: inout ArraySlice<Substring>) -> MemberPaths {
        var members: [(String, Bool, MemberPaths)] = []
        while let name = tokens.popFirst(), name != "}" {
            guard name != "," else { continue }
            let isOptional = tokens.first == "?"
            if isOptional { tokens.removeFirst() }
            guard tokens.popFirst() == ":" else { return MemberPaths() }
            members.append((String(name), !isOptional, union(&tokens)))
        }
        return .object(members)
    }
}
