import Cryptography
import Encodings

/// Mutations that respect the structure of texts.
extension Mutator {
    /// Swaps, duplicates or drops the text between two separators.
    mutating func moveParts(_ bytes: inout [UInt8]) {
        let separators = Array(",.&/;: \n=~\"".utf8)
        let separator = separators[below(separators.count)]
        var parts = bytes.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return }
        let first = below(parts.count)
        switch below(3) {
        case 0: parts.swapAt(first, below(parts.count))
        case 1: parts.insert(parts[first], at: below(parts.count))
        default: parts.remove(at: first)
        }
        bytes = Array(parts.joined(separator: [separator]))
    }

    /// Returns bytes that are not UTF-8, or rare characters.
    mutating func damagedText() -> [UInt8] {
        let parts: [[UInt8]] = [
            [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xFF, 0xFE], [0xEF, 0xBB, 0xBF], [0xE2, 0x80, 0xA8], [0xCC, 0x81], [0xEF, 0xBF, 0xBD],
            [0xF0, 0x9F, 0x98, 0x80], [0x00], [0xE2, 0x84, 0xAA], [0x80, 0x80], [0xC2, 0x85],
        ]
        return parts[below(parts.count)]
    }

    /// Replaces a number by an extreme one.
    mutating func replaceNumber(_ bytes: inout [UInt8]) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard !bytes.isEmpty else { return }
        let from = below(bytes.count)
        guard let start = bytes[from...].firstIndex(where: isDigit) else { return }
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
        let numbers = [
            "0", "-0", "-1", "00", "1e999", "-1e999", "1e-999", "9223372036854775807",
            "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1.5", "1E+2",
            "4294967296", "65536", "253402300800", "0.1e1", "1.", "123456789012345678901234567890",
        ]
        bytes.replaceSubrange(start..<end, with: numbers[below(numbers.count)].utf8)
    }

    /// Wraps a part in many brackets, closed or not.
    mutating func nest(_ bytes: inout [UInt8]) {
        let range = range(in: bytes)
        let pairs = [("[", "]"), (#"{"a":"#, "}"), ("[0,", "]"), ("(", ")")]
        let (open, close) = pairs[below(pairs.count)]
        let depth = below(30) == 0 ? below(10_000) : below(40)
        let closings = below(3) == 0 ? below(depth + 1) : depth
        let nested =
            Array(repeatElement(open.utf8, count: depth).joined()) + bytes[range]
            + Array(repeatElement(close.utf8, count: closings).joined())
        bytes.replaceSubrange(range, with: nested)
    }

    /// Replaces a byte by an escape of a URL or of JSON.
    mutating func escape(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let index = below(bytes.count)
        let hex = Hex.encode([bytes[index]])
        let escapes = [
            "%\(hex)", "\\u00\(hex)", "%00", "\\u0000", "\\ud800", "\\ud83d\\ude00", "%",
        ]
        let escape = escapes[below(below(2) == 0 ? 2 : escapes.count)]
        bytes.replaceSubrange(index...index, with: escape.utf8)
    }

    /// Decodes a part as base64url, damages it, and encodes it again.
    mutating func changeInsideBase64URL(_ bytes: inout [UInt8]) {
        var parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let index = below(parts.count)
        guard
            var decoded = Base64URL.decode(String(decoding: parts[index], as: UTF8.self)),
            !decoded.isEmpty
        else { return }
        switch below(4) {
        case 0: decoded[below(decoded.count)] ^= 1 << UInt8(below(8))
        case 1: decoded.removeSubrange(range(in: decoded))
        case 2: nest(&decoded)
        default: moveParts(&decoded)
        }
        parts[index] = Array(Base64URL.encode(decoded).utf8)[...]
        bytes = Array(parts.joined(separator: [UInt8(ascii: ".")]))
    }
}
