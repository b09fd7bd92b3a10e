/// The error for malformed JSON; without details, because untrusted text gets no diagnosis.
struct NotJSON: Error {}

/// A recursive-descent reader of `JSONValue`, bounded in depth.
struct JSONScanner {
    private static let chunkBytes = 32

    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads a value that must be the whole text.
    mutating func document() throws(NotJSON) -> JSONValue {
        let value = try value()
        skipWhitespace()
        guard index == bytes.count else {
            throw NotJSON()
        }
        return value
    }

    private mutating func value() throws(NotJSON) -> JSONValue {
        skipWhitespace()
        switch peek() {
        case UInt8(ascii: "{"):
            return try nested { scanner throws(NotJSON) in try scanner.object() }
        case UInt8(ascii: "["): return try nested { scanner throws(NotJSON) in try scanner.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONScanner) throws(NotJSON) -> JSONValue
    ) throws(NotJSON) -> JSONValue {
        guard depth < JSONValue.depthMax else {
            throw NotJSON()
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func object() throws(NotJSON) -> JSONValue {
        index += 1
        var members: JSONMembers = [:]
        skipWhitespace()
        guard !takes(UInt8(ascii: "}")) else {
            return .object(members)
        }
        repeat {
            skipWhitespace()
            let name = try string()
            skipWhitespace()
            guard takes(UInt8(ascii: ":")) else {
                throw NotJSON()
            }
            let value = try value()
            guard members.add(value, named: name) else {
                throw NotJSON()
            }
            skipWhitespace()
        } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "}")) else {
            throw NotJSON()
        }
        return .object(members)
    }

    private mutating func array() throws(NotJSON) -> JSONValue {
        index += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        guard !takes(UInt8(ascii: "]")) else {
            return .array(elements)
        }
        repeat {
            elements.append(try value())
            skipWhitespace()
        } while takes(UInt8(ascii: ","))
        guard takes(UInt8(ascii: "]")) else {
            throw NotJSON()
        }
        return .array(elements)
    }

    private mutating func literal(
        _ word: StaticString, _ value: JSONValue
    ) throws(NotJSON) -> JSONValue {
        for expected in word.description.utf8 {
            guard takes(expected) else {
                throw NotJSON()
            }
        }
        return value
    }
}

// MARK: Characters

extension JSONScanner {
    /// Returns the next byte without consuming it; nil at the end.
    func peek() -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    /// Consumes the next byte if it is the expected one.
    mutating func takes(_ expected: UInt8) -> Bool {
        guard peek() == expected else {
            return false
        }
        index += 1
        return true
    }

    /// Consumes the next byte.
    mutating func taken() throws(NotJSON) -> UInt8 {
        guard let byte = peek() else {
            throw NotJSON()
        }
        index += 1
        return byte
    }

    private mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            index += 1
        }
    }

    /// Consumes bytes up to a quotation mark, a backslash or a control character.
    mutating func plainRun() -> ArraySlice<UInt8> {
        let start = index
        index = endOfPlainBlocks
        _ = taken { byte in
            byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        return bytes[start..<index]
    }

    /// The end of the following whole blocks without quotation marks, escapes and control characters:
    /// a token is a string of a thousand bytes.
    private var endOfPlainBlocks: Int {
        let span = bytes.span
        var end = index
        while end + Self.chunkBytes <= span.count,
            !span.extracting(end..<end + Self.chunkBytes).mustBeEscaped
        {
            end += Self.chunkBytes
        }
        return end
    }

    /// Consumes bytes while they satisfy a condition, and returns them.
    mutating func taken(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        while let byte = peek(), condition(byte) {
            index += 1
        }
        return bytes[start..<index]
    }
}
