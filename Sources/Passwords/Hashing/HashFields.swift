internal import Encodings

/// Readers of the fields that texts of hashes have in common.
enum HashFields {
    /// Splits a setting at its `$`; the last part, behind the last `$`, is not returned.
    static func split(
        _ text: Substring, count: Int
    ) throws(PasswordHashFault) -> [Substring] {
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == count + 1, fields.last == "" else { throw .malformed }
        return Array(fields.dropLast())
    }

    /// Reads members such as `m=1,t=2`, with exactly these names in this order.
    static func members(
        _ text: Substring, _ names: [String]
    ) throws(PasswordHashFault) -> [Substring] {
        let members = text.split(separator: ",", omittingEmptySubsequences: false)
        guard members.count == names.count else { throw .malformed }
        var values: [Substring] = []
        for (member, name) in zip(members, names) {
            guard member.hasPrefix(name + "=") else { throw .malformed }
            values.append(member.dropFirst(name.count + 1))
        }
        return values
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
        String(Base64.encode(bytes).prefix { $0 != "=" })
    }

    /// Decodes Base64 without padding; nil when it is not canonical.
    static func decode(unpadded text: Substring) -> [UInt8]? {
        guard !text.contains("=") else { return nil }
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
