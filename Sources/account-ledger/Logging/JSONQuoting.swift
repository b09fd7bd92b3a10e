import Cryptography

/// Writes text as a JSON string (RFC 8259, section 7).
enum JSONQuoting {
    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// Appends the text in quotation marks, truncated to a number of bytes.
    static func append(_ text: String, bytesMax: Int = .max, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // The fast path for ids, counts and templates, which are short and need no escapes.
        if text.utf8.count <= bytesMax, text.utf8.span.isPlain {
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= bytesMax else { break }
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            case "\u{0}"..."\u{1F}", "\u{7F}":
                let value = UInt8(truncatingIfNeeded: scalar.value)
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(hexDigits[Int(value >> 4)])
                bytes.append(hexDigits[Int(value & 0xF)])
            default:
                bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Returns the text in quotation marks.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Span<UInt8> {
    /// Whether every byte is printable ASCII that needs no escape; without branches, so that the compiler
    /// can vectorize it.
    fileprivate var isPlain: Bool {
        var greatest: UInt8 = 0
        for index in indices { greatest = max(greatest, self[index]) }
        return greatest < 0x7F && !mustBeEscaped
    }
}
