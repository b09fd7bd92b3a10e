import Ledger

/// The content of the file `current`: the key in use of each kind, and the next one with its time.
///
/// Lines such as `token ID` and `next token ID 2026-11-20T23:17:50.859712Z`.
struct KeyChoice {
    /// A key that comes into use at a time, by the clock of each process.
    struct Next {
        let id: String
        let from: Timestamp
    }

    /// The kinds of keys that can be rotated.
    enum Kind: String, CaseIterable {
        case encryption
        case mac
        /// Optional: a directory without one in use hashes passwords without it.
        case pepper
        case token
    }

    var current: [Kind: String] = [:]
    var next: [Kind: Next] = [:]

    init() {}

    /// Parses the file; nil unless it consists of such lines, at most one of each sort per kind.
    init?(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            switch words.count {
            case 2:
                guard let kind = Kind(rawValue: words[0]),
                    current.updateValue(words[1], forKey: kind) == nil
                else { return nil }
            case 4:
                guard words[0] == "next", let kind = Kind(rawValue: words[1]),
                    let from = Timestamp(words[3]),
                    next.updateValue(Next(id: words[2], from: from), forKey: kind) == nil
                else { return nil }
            default:
                return nil
            }
        }
        // The first pepper replaces none.
        guard next.keys.allSatisfy({ current[$0] != nil || $0 == .pepper }) else { return nil }
    }

    /// Returns the key in use at a time; nil when the file does not name one.
    func id(of kind: Kind, at now: Timestamp) -> String? {
        if let next = next[kind], now >= next.from { return next.id }
        return current[kind]
    }

    /// Returns the newest key: the next one, or else the one in use.
    func lastID(of kind: Kind) -> String? { next[kind]?.id ?? current[kind] }

    /// The text of the file.
    var text: String {
        Kind.allCases.map { kind in
            var lines = current[kind].map { "\(kind.rawValue) \($0)\n" } ?? ""
            if let next = next[kind] { lines += "next \(kind.rawValue) \(next.id) \(next.from)\n" }
            return lines
        }.joined()
    }
}
