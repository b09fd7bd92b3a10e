internal import JSON

/// Parses JSON strings in the form that `JSONText` writes, and literals between them.
struct JSONTextParser {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { index == bytes.count }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, UInt32(bytes[index]) == character.value else { return false }
        index += 1
        return true
    }

    /// Returns the range of a string without escapes.
    mutating func bareText() -> Range<Int>? {
        guard consume("\"") else { return nil }
        let start = index
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return start..<index - 1 }
            guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
        }
        return nil
    }

    mutating func text() -> String? {
        let start = index
        if let range = bareText() { return String(validating: bytes[range], as: UTF8.self) }
        index = start
        guard consume("\"") else { return nil }
        var text: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                text.append(escaped)
            case 0..<0x20:
                return nil
            default:
                text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> UInt8? {
        guard index < bytes.count else { return nil }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "u"):
            guard bytes.count - index >= 4 else { return nil }
            let digits = bytes[index..<index + 4]
            index += 4
            // Only the written form: lower-case digits, and no escape that has a shorter form.
            return (0..<0x20 as Range<UInt8>).first { control in
                var written: [UInt8] = []
                JSONText.append(String(Unicode.Scalar(control)), to: &written)
                return written.dropFirst().dropLast().elementsEqual("\\u".utf8 + digits)
            }
        default: return nil
        }
    }
}
