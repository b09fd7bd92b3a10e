internal import Encodings
internal import JSON
internal import TransparencyLog

/// A JSON object on one line, written member by member.
struct JSONLine {
    private(set) var bytes: [UInt8] = []

    /// Opens the object with the name of its first member.
    mutating func begin(_ name: String) {
        literal("{\"")
        literal(name)
        literal("\":")
    }

    /// Writes the name of the next member.
    mutating func member(_ name: String) {
        literal(",\"")
        literal(name)
        literal("\":")
    }

    /// Closes the object and the line.
    mutating func end() {
        literal("}\n")
    }

    /// Writes encoded JSON.
    mutating func literal(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes encoded JSON.
    mutating func literal(_ json: [UInt8]) {
        bytes.append(contentsOf: json)
    }

    /// Writes any string as JSON.
    mutating func text(_ text: String) {
        JSONText.append(text, to: &bytes)
    }

    /// Writes an ASCII string that needs no escapes as JSON.
    mutating func plain(_ ascii: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: ascii)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes bytes as a JSON string in base64.
    mutating func base64(_ content: [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        Base64.append(content, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes hashes as a JSON array of base64.
    mutating func hashes(_ path: [TreeHash]) {
        literal("[")
        for (index, hash) in path.enumerated() {
            if index > 0 { literal(",") }
            base64(hash.bytes)
        }
        literal("]")
    }
}
