/// Classes of ASCII characters.
enum ASCIIClasses {
    static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || isLetter(byte)
    }
}
