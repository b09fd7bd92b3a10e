internal import Encodings

/// Writes small JSON texts (RFC 8259) without reflection, because responses are on the hot path.
package struct JSONWriter {
    /// The text so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates an empty text with memory for so many bytes.
    package init(reserving byteCount: Int = 512) {
        bytes.reserveCapacity(byteCount)
    }

    /// Writes an object; `members` writes a name before each value.
    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        nested("{", "}", members)
    }

    /// Writes an object of strings, sorted by name.
    package mutating func object(_ members: [String: String]) {
        object { writer in
            for (name, text) in members.sorted(by: { $0.key < $1.key }) {
                writer.member(name, text)
            }
        }
    }

    /// Writes an object as a line of its own, as JSON Lines have it.
    package mutating func line(_ members: (inout JSONWriter) -> Void) {
        object(members)
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Starts a new line before the next element of an array.
    package mutating func lineBreak() {
        beginValue()
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Writes an array; `elements` writes its values in order.
    package mutating func array(_ elements: (inout JSONWriter) -> Void) {
        nested("[", "]", elements)
    }

    /// Writes an array of strings.
    package mutating func texts(_ texts: [String]) {
        array { writer in
            for text in texts {
                writer.text(text)
            }
        }
    }

    /// Writes the name of an object's next member.
    package mutating func name(_ name: String) {
        plainText(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string member; nothing when it is nil.
    package mutating func member(_ name: String, _ text: String?) {
        guard let text else { return }
        self.name(name)
        self.text(text)
    }

    /// Writes a string.
    package mutating func text(_ text: String) {
        beginValue()
        JSONText.append(text, to: &bytes)
    }

    /// Writes a string of the program's own, such as a name or a token, that needs no escapes.
    package mutating func plainText(_ text: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        assert(!bytes.span.extracting(start...).mustBeEscaped, "a plain text needs no escape")
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes bytes as a string in base64.
    package mutating func base64(_ content: [UInt8]) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        Base64.append(content, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a whole number.
    package mutating func number(_ number: Int64) {
        beginValue()
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Writes a Boolean.
    package mutating func flag(_ flag: Bool) {
        beginValue()
        bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
    }

    /// Writes a Boolean, or null when it is unknown.
    package mutating func flag(_ flag: Bool?) {
        if let flag { self.flag(flag) } else { null() }
    }

    /// Writes a value that is JSON already, unchanged.
    package mutating func json(_ json: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    /// Writes null.
    package mutating func null() {
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
package protocol JSONWritable {
    /// Writes the value.
    func write(to writer: inout JSONWriter)
}
