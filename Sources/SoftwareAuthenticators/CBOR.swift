/// Writes CBOR.
package enum CBOR {
    /// Returns a number.
    package static func integer(_ number: Int) -> [UInt8] {
        number < 0 ? head(1, -1 - number) : head(0, number)
    }

    /// Returns a byte string.
    package static func bytes(_ bytes: [UInt8]) -> [UInt8] { head(2, bytes.count) + bytes }

    /// Returns a text.
    package static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + text.utf8 }

    /// Returns an array of items in CBOR.
    package static func array(_ items: [[UInt8]]) -> [UInt8] {
        head(4, items.count) + items.joined()
    }

    /// Returns a map of pairs in CBOR, in their order.
    package static func map(_ pairs: [([UInt8], [UInt8])]) -> [UInt8] {
        head(5, pairs.count) + pairs.flatMap { $0.0 + $0.1 }
    }

    /// Returns the low bytes of a number, the highest one first.
    package static func bigEndian(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    private static func head(_ major: UInt8, _ number: Int) -> [UInt8] {
        switch number {
        case ..<24: [major << 5 | UInt8(number)]
        case ..<0x100: [major << 5 | 24, UInt8(number)]
        default: [major << 5 | 25] + bigEndian(UInt32(number), 2)
        }
    }
}
