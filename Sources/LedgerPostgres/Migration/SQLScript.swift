/// The text of several statements.
///
/// Citus sends the whole text of some statements to every node, so on it each is executed by itself.
struct SQLScript {
    private static let quote = UInt8(ascii: "'")
    private static let dollar = UInt8(ascii: "$")
    private static let backslash = UInt8(ascii: "\\")
    private static let newline = UInt8(ascii: "\n")

    private let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The statements without the semicolons between them, and without what has comments only.
    var statements: [String] {
        var found: [String] = []
        var start = 0
        var hasText = false
        var place = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "-"), place + 1 < bytes.count, bytes[place + 1] == byte {
                place = bytes[place...].firstIndex(of: Self.newline) ?? bytes.count
                continue
            }
            if byte == UInt8(ascii: ";") {
                if hasText { found.append(text(start..<place)) }
                (start, hasText) = (place + 1, false)
            } else if byte > UInt8(ascii: " ") {
                hasText = true
            }
            place = end(ofTokenAt: place)
        }
        if hasText { found.append(text(start..<bytes.count)) }
        return found
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Returns the place after a quoted text, or after one byte of anything else.
    private func end(ofTokenAt place: Int) -> Int {
        switch bytes[place] {
        case Self.quote:
            let isEscaped = place > 0 && bytes[place - 1] | 0x20 == UInt8(ascii: "e")
            return end(of: Self.quote, from: place + 1, isEscaped: isEscaped)
        case UInt8(ascii: "\""):
            return end(of: UInt8(ascii: "\""), from: place + 1, isEscaped: false)
        case Self.dollar:
            guard let tag = tag(at: place) else { return place + 1 }
            var next = place + tag.count
            while next + tag.count <= bytes.count {
                if bytes[next..<next + tag.count] == tag { return next + tag.count }
                next += 1
            }
            return bytes.count
        default: return place + 1
        }
    }

    private func end(of delimiter: UInt8, from start: Int, isEscaped: Bool) -> Int {
        var place = start
        while place < bytes.count {
            if bytes[place] == delimiter { return place + 1 }
            place += isEscaped && bytes[place] == Self.backslash ? 2 : 1
        }
        return bytes.count
    }

    /// Returns `$tag$` if one begins here; `$1` is a parameter.
    private func tag(at place: Int) -> ArraySlice<UInt8>? {
        guard let end = bytes[(place + 1)...].firstIndex(of: Self.dollar) else { return nil }
        let name = bytes[(place + 1)..<end]
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isName = name.allSatisfy { byte in
            byte == UInt8(ascii: "_") || letters.contains(byte | 0x20) || digits.contains(byte)
        }
        let isParameter = name.first.map { digits.contains($0) } ?? false
        return isName && !isParameter ? bytes[place...end] : nil
    }
}
