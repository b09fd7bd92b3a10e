import Ledger

/// The content of the file `current`: which key of a kind is used, and which one from a moment on.
///
/// Lines such as `token ID` and `next token ID 2026-11-20T23:17:50.859712Z`.
struct KeyChoice {
    /// A key that takes over at its time, by the clock of each process.
    struct Next {
        let id: String
        let from: Timestamp
    }

    /// The kinds of which there may be several.
    enum Kind: String, CaseIterable {
        case encryption
        case mac
        case token
    }

    var current: [Kind: String] = [:]
    var next: [Kind: Next] = [:]

    init() {}

    /// Reads the file; nil for anything else than such lines, one of a sort.
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
        guard next.keys.allSatisfy({ current[$0] != nil }) else { return nil }
    }

    /// The key that is used at a moment; nil when the file does not say.
    func id(of kind: Kind, at now: Timestamp) -> String? {
        if let next = next[kind], now >= next.from { return next.id }
        return current[kind]
    }

    /// The key that will have been used last, whenever that is.
    func lastID(of kind: Kind) -> String? { next[kind]?.id ?? current[kind] }

    /// The file's text.
    var text: String {
        Kind.allCases.map { kind in
            var lines = current[kind].map { "\(kind.rawValue) \($0)\n" } ?? ""
            if let next = next[kind] { lines += "next \(kind.rawValue) \(next.id) \(next.from)\n" }
            return lines
        }.joined()
    }
}
