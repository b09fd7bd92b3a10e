/// ASCII characters in the grammar of HTTP.
enum ASCII {
    static let tab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let hash: UInt8 = 0x23
    static let percent: UInt8 = 0x25
    static let ampersand: UInt8 = 0x26
    static let slash: UInt8 = 0x2F
    static let zero: UInt8 = 0x30
    static let nine: UInt8 = 0x39
    static let colon: UInt8 = 0x3A
    static let equals: UInt8 = 0x3D
    static let question: UInt8 = 0x3F
    static let delete: UInt8 = 0x7F

    /// Returns the lower-case form of a letter from A to Z; any other byte unchanged.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    /// Returns the value of a hexadecimal digit of either case.
    static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Checks whether a byte is a token character, RFC 9110 section 5.6.2.
    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// Checks whether a host with a port may contain a byte, RFC 9110 section 7.2 and RFC 3986 section 3.2.2.
    static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case hash, 0x5E, 0x60, 0x7C: false
        case 0x28, 0x29, 0x2C, colon, 0x3B, equals, 0x5B, 0x5D: true
        default: isTokenCharacter(byte)
        }
    }

    /// Checks whether a field value may contain a byte, RFC 9110 section 5.5: no control character but tabs.
    static func isFieldText(_ byte: UInt8) -> Bool {
        byte >= space && byte != delete || byte == tab
    }

    /// Checks whether a text is a token: one or more token characters.
    static func isToken(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            guard isTokenCharacter(text[index]) else { return false }
        }
        return !text.isEmpty
    }

    /// Compares without regard to the case of the letters A to Z.
    static func equalIgnoringCase(
        _ left: some Collection<UInt8>, _ right: some Collection<UInt8>
    ) -> Bool {
        left.count == right.count
            && left.elementsEqual(right) { lowercased($0) == lowercased($1) }
    }

    /// Trims spaces and tabs at both ends.
    static func trimmed(_ text: Substring) -> Substring {
        // By bytes: a space and a combining mark form one character, and the mark must stay.
        var bytes = text.utf8
        while let first = bytes.first, first == space || first == tab { bytes.removeFirst() }
        while let last = bytes.last, last == space || last == tab { bytes.removeLast() }
        return Substring(bytes)
    }
}
