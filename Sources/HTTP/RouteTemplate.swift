/// A path with names in braces for its variable segments: `/v1/auth/link/{provider}`.
struct RouteTemplate: Sendable {
    enum Segment: Equatable, Sendable {
        case literal(String)
        case capture(String)
    }

    let text: String
    let segments: [Segment]
    /// The capture that may contain an encoded slash.
    private let slashCapture: String?

    /// Parses a template; a malformed one is a programming error and ends the program.
    init(_ text: String, slashesIn capture: String? = nil) {
        precondition(text.utf8.first == ASCII.slash, "a template starts with a slash: \(text)")
        self.text = text
        slashCapture = capture
        segments = Self.split(text).map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return .literal(String(part)) }
            let name = part.dropFirst().dropLast()
            precondition(!name.isEmpty, "a capture has a name: \(text)")
            return .capture(String(name))
        }
        var names: Set<String> = []
        for case .capture(let name) in segments {
            precondition(names.insert(name).inserted, "a name is captured once: \(text)")
        }
    }

    /// Splits a path into segments; a trailing slash makes an empty last segment.
    static func split(_ path: String) -> [Substring] {
        // By bytes: splitting by characters would search for grapheme boundaries.
        var segments: [Substring] = []
        let end = path.utf8.endIndex
        guard var start = path.utf8.firstIndex(of: ASCII.slash) else { return [] }
        segments.reserveCapacity(8)
        while start < end {
            let first = path.utf8.index(after: start)
            start = path.utf8[first...].firstIndex(of: ASCII.slash) ?? end
            segments.append(path[first..<start])
        }
        return segments
    }

    /// Decodes the captured segments; nil when one is empty, malformed or contains a slash that it may not have.
    func captures(of path: [Substring]) -> RouteCaptures? {
        var captures: RouteCaptures = [:]
        for (segment, part) in zip(segments, path) {
            guard case .capture(let name) = segment else { continue }
            guard let value = PercentEncoding.decode(part), !value.isEmpty else { return nil }
            guard name == slashCapture || !value.utf8.contains(ASCII.slash) else { return nil }
            captures.add(value, named: name)
        }
        return captures
    }
}
