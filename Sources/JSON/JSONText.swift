/// JSON strings in their canonical form, RFC 8785 section 3.2.2.2.
package enum JSONText {
    /// Appends a string with its quotation marks.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Copied before it is scanned: both work on many bytes at once, and escapes are rare.
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if bytes.span.extracting(start...).mustBeEscaped {
            bytes.removeSubrange(start...)
            appendEscaped(text.utf8, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ text: String.UTF8View, to bytes: inout [UInt8]) {
        for byte in text {
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
    }
}
