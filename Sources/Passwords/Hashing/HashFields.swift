internal import Encodings

/// Readers of the fields that texts of hashes have in common.
enum HashFields {
    /// Splits a setting at its `$`; the last part, behind the last `$`, is not returned.
    static func split(
        _ text: Substring, count: Int
    ) throws(PasswordHashFault) -> [Substring] {
        let fields = parts(text, at: "$")
        guard fields.count == count + 1, fields.last == "" else { throw .malformed }
        return Array(fields.dropLast())
    }

    /// Reads members such as `m=1,t=2`, with exactly these names in this order.
    static func members(
        _ text: Substring, _ names: [String]
    ) throws(PasswordHashFault) -> [Substring] {
        let members = parts(text, at: ",")
        guard members.count == names.count else { throw .malformed }
        var values: [Substring] = []
        for (member, name) in zip(members, names) {
            let start = name.utf8.count + 1
            guard member.utf8.prefix(start).elementsEqual((name + "=").utf8) else {
                throw .malformed
            }
            values.append(Substring(member.utf8.dropFirst(start)))
        }
        return values
    }

    /// Splits an ASCII text by its bytes, which costs a tenth of a split by its characters.
    private static func parts(_ text: Substring, at separator: Unicode.Scalar) -> [Substring] {
        text.utf8.split(
            separator: UInt8(ascii: separator), omittingEmptySubsequences: false
        ).map { Substring($0) }
    }

    /// Reads a number of at most ten digits, without sign or leading zeros.
    static func number(_ text: Substring) throws(PasswordHashFault) -> Int {
        guard (1...10).contains(text.utf8.count), text == "0" || !text.hasPrefix("0"),
            text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int(text)
        else { throw .malformed }
        return number
    }

    /// Reads a salt of up to 128 bytes.
    static func salt(_ bytes: [UInt8]?, min: Int = 1) throws(PasswordHashFault) -> [UInt8] {
        guard let bytes, (min...128).contains(bytes.count) else { throw .malformed }
        return bytes
    }

    /// Encodes bytes as Base64 without padding, as PHC strings do.
    static func unpadded(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes)
        return String(Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") }))
    }

    /// Decodes Base64 without padding; nil when it is not canonical.
    static func decode(unpadded text: Substring) -> [UInt8]? {
        guard !text.utf8.contains(UInt8(ascii: "=")) else { return nil }
        return Base64.decode(text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }

    /// Whether a text consists of the digits that crypt(5) uses.
    static func isCrypt(_ text: Substring, count: ClosedRange<Int>) -> Bool {
        count.contains(text.utf8.count) && text.utf8.allSatisfy { cryptDigit($0) != nil }
    }

    /// Returns the value of one of the digits `./0-9A-Za-z`.
    static func cryptDigit(_ character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: ".")...UInt8(ascii: "9"): Int(character - UInt8(ascii: "."))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character - UInt8(ascii: "A")) + 12
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character - UInt8(ascii: "a")) + 38
        default: nil
        }
    }
}
