import LedgerTestSupport

/// Derives inputs from valid ones: damages bytes, moves parts, and inserts difficult values.
struct Mutator {
    /// The longest input; the longest that a parser accepts is a providers file.
    static let bytesMax = 70_000
    private static let roundsMax = 6

    var random: SeededGenerator
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    init(seed: UInt64, corpus: [[UInt8]], words: [[UInt8]]) {
        random = SeededGenerator(seed: seed)
        self.corpus = corpus
        self.words = words
    }

    /// Returns the next input; the first ones are the corpus itself.
    mutating func input(isFirst index: Int?) -> [UInt8] {
        if let index { return corpus[index] }
        guard below(50) > 0 else { return random.bytes(below(200)) }
        var bytes = corpus[below(corpus.count)]
        for _ in 0...below(Self.roundsMax) {
            change(&bytes)
            if bytes.count > Self.bytesMax { bytes.removeLast(bytes.count - Self.bytesMax) }
        }
        return bytes
    }

    /// Returns a number from 0 to below the bound.
    mutating func below(_ bound: Int) -> Int {
        bound > 1 ? Int(random.next() % UInt64(bound)) : 0
    }

    /// Returns a range of the bytes, usually a short one.
    mutating func range(in bytes: [UInt8], countMax: Int = 64) -> Range<Int> {
        let start = below(bytes.count + 1)
        let longest = below(4) == 0 ? bytes.count - start : min(countMax, bytes.count - start)
        return start..<(start + below(longest + 1))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        switch below(20) {
        case 0, 1: flipBit(&bytes)
        case 2: replaceByte(&bytes)
        case 3: bytes.insert(contentsOf: random.bytes(1 + below(8)), at: below(bytes.count + 1))
        case 4, 5: bytes.removeSubrange(range(in: bytes))
        case 6: duplicate(&bytes)
        case 7: bytes.removeLast(below(bytes.count + 1))
        case 8: splice(&bytes)
        case 9, 10: bytes.replaceSubrange(range(in: bytes, countMax: 12), with: word())
        case 11: bytes.insert(contentsOf: word(), at: below(bytes.count + 1))
        case 12: moveParts(&bytes)
        case 13: moveParts(&bytes)
        case 14: bytes.insert(contentsOf: damagedText(), at: below(bytes.count + 1))
        case 15: replaceNumber(&bytes)
        case 16: nest(&bytes)
        case 17: escape(&bytes)
        case 18: changeInsideBase64URL(&bytes)
        default: repeatByte(&bytes)
        }
    }

    private mutating func flipBit(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
    }

    private mutating func replaceByte(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let telling: [UInt8] = [
            0, 0x09, 0x0A, 0x0D, 0x20, 0x22, 0x25, 0x2B, 0x2C, 0x2E, 0x2F, 0x3A, 0x5C, 0x7B, 0x7F,
            0x80, 0xC0, 0xFF,
        ]
        bytes[below(bytes.count)] = telling[below(telling.count)]
    }

    private mutating func duplicate(_ bytes: inout [UInt8]) {
        let copy = Array(bytes[range(in: bytes)])
        bytes.insert(contentsOf: copy, at: below(bytes.count + 1))
    }

    private mutating func splice(_ bytes: inout [UInt8]) {
        let other = corpus[below(corpus.count)]
        bytes = Array(bytes.prefix(below(bytes.count + 1)) + other.suffix(below(other.count + 1)))
    }

    private mutating func word() -> [UInt8] {
        words.isEmpty ? random.bytes(1 + below(4)) : words[below(words.count)]
    }

    private mutating func repeatByte(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let index = below(bytes.count)
        let count = below(40) == 0 ? below(66_000) : below(300)
        bytes.insert(contentsOf: repeatElement(bytes[index], count: count), at: index)
    }
}
