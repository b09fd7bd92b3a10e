/// A parsed request target, RFC 9112 section 3.2.
///
/// The origin form, the absolute form and the asterisk form are supported; the authority form is for
/// CONNECT, which is not.
struct RequestTarget {
    /// The most pairs of a well-formed query.
    static let queryPairsMax = 100

    let path: String
    let query: [(name: String, value: String)]

    /// Parses a target; nil for another form, for a byte outside of the visible ASCII characters, for a
    /// fragment, and for a query that can't be decoded.
    init?(_ target: String) {
        for byte in target.utf8 {
            guard byte > ASCII.space, byte < ASCII.delete, byte != ASCII.hash else { return nil }
        }
        guard let origin = Self.originForm(of: target) else { return nil }
        guard let mark = origin.utf8.firstIndex(of: ASCII.question) else {
            path = String(origin)
            query = []
            return
        }
        guard let query = Self.pairs(origin[origin.utf8.index(after: mark)...]) else { return nil }
        self.path = String(origin[..<mark])
        self.query = query
    }

    private static func originForm(of target: String) -> Substring? {
        if target.utf8.first == ASCII.slash || target == "*" { return target[...] }
        for scheme in ["http://", "https://"] {
            let prefix = target.utf8.prefix(scheme.utf8.count)
            guard ASCII.equalIgnoringCase(prefix, scheme.utf8) else { continue }
            let rest = target[prefix.endIndex...]
            let end = rest.utf8.firstIndex { $0 == ASCII.slash || $0 == ASCII.question }
            guard let end else { return rest.isEmpty ? nil : "/" }
            guard end > rest.startIndex else { return nil }
            return rest.utf8[end] == ASCII.slash ? rest[end...] : "/" + rest[end...]
        }
        return nil
    }

    private static func pairs(_ query: Substring) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for part in query.utf8.split(separator: ASCII.ampersand) {
            guard pairs.count < queryPairsMax else { return nil }
            let text = Substring(part)
            let mark = part.firstIndex(of: ASCII.equals)
            let value = mark.map { text[part.index(after: $0)...] } ?? ""
            guard
                let name = PercentEncoding.decode(text[..<(mark ?? part.endIndex)]),
                let value = PercentEncoding.decode(value)
            else { return nil }
            pairs.append((name, value))
        }
        return pairs
    }
}
