/// Appends a string as JSON in the form of RFC 8785, section 3.2.2.2.
func appendJSONText(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
        case 0x08: bytes.append(contentsOf: "\\b".utf8)
        case 0x09: bytes.append(contentsOf: "\\t".utf8)
        case 0x0A: bytes.append(contentsOf: "\\n".utf8)
        case 0x0C: bytes.append(contentsOf: "\\f".utf8)
        case 0x0D: bytes.append(contentsOf: "\\r".utf8)
        case 0..<0x20:
            bytes.append(contentsOf: byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8)
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        default: bytes.append(byte)
        }
    }
    bytes.append(UInt8(ascii: "\""))
}

/// Parses JSON strings in the form that `appendJSONText` writes, and literals between them.
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
        if let place = bareText() { return String(validating: bytes[place], as: UTF8.self) }
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
                appendJSONText(String(Unicode.Scalar(control)), to: &written)
                return written.dropFirst().dropLast().elementsEqual("\\u".utf8 + digits)
            }
        default: return nil
        }
    }
}
