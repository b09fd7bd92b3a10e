internal import Cryptography

/// Writes small JSON texts (RFC 8259) without reflection, because responses are on the hot path.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(reserving byteCount: Int = 512) {
        bytes.reserveCapacity(byteCount)
    }

    /// Writes an object; `members` writes a name before each value.
    mutating func object(_ members: (inout JSONWriter) -> Void) {
        nested("{", "}", members)
    }

    /// Writes an array; `elements` writes its values in order.
    mutating func array(_ elements: (inout JSONWriter) -> Void) {
        nested("[", "]", elements)
    }

    /// Writes an array of strings.
    mutating func texts(_ texts: [String]) {
        array { writer in
            for text in texts {
                writer.text(text)
            }
        }
    }

    /// Writes the name of an object's next member.
    mutating func name(_ name: String) {
        plainText(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    mutating func text(_ text: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        let text = text.utf8
        // Copied before it is scanned: both work on many bytes at once, and escapes are rare.
        let start = bytes.count
        bytes.append(contentsOf: text)
        if bytes.span.extracting(start...).mustBeEscaped {
            bytes.removeSubrange(start...)
            appendEscaped(text)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a string of the program's own, such as a name or a token, that needs no escapes.
    mutating func plainText(_ text: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        assert(!bytes.span.extracting(start...).mustBeEscaped, "a plain text needs no escape")
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ text: String.UTF8View) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default:
                bytes.append(byte)
            }
        }
    }

    mutating func number(_ number: Int64) {
        beginValue()
        bytes.append(contentsOf: String(number).utf8)
    }

    mutating func flag(_ flag: Bool) {
        beginValue()
        bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
    }

    /// Writes a Boolean, or null when it is unknown.
    mutating func flag(_ flag: Bool?) {
        if let flag { self.flag(flag) } else { null() }
    }

    /// Writes a value that is JSON already, unchanged.
    mutating func json(_ json: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    /// Writes null.
    mutating func null() {
        json(Array("null".utf8))
    }

    private mutating func beginValue() {
        if needsComma {
            bytes.append(UInt8(ascii: ","))
        }
        needsComma = true
    }

    private mutating func nested(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar,
        _ content: (inout JSONWriter) -> Void
    ) {
        beginValue()
        bytes.append(UInt8(ascii: opening))
        needsComma = false
        content(&self)
        bytes.append(UInt8(ascii: closing))
        needsComma = true
    }
}

/// A value that writes itself as JSON.
protocol JSONWritable {
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}
