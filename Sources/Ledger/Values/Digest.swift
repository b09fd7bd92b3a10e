internal import Encodings

/// A SHA-256 digest: a leaf hash of the log, or the commitment to a disclosure.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of every digest.
    package static let byteCount = 32

    private let words: InlineWords

    private struct InlineWords: Hashable, Sendable {
        let first: UInt64
        let second: UInt64
        let third: UInt64
        let fourth: UInt64
    }

    /// Thirty-two zero bytes: a placeholder while no digest is known.
    package static let zero = Digest(words: InlineWords(first: 0, second: 0, third: 0, fourth: 0))

    private init(words: InlineWords) {
        self.words = words
    }

    /// Wraps four words, most significant first.
    package init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
        words = InlineWords(first: first, second: second, third: third, fourth: fourth)
    }

    /// Wraps exactly 32 bytes; nil for any other count.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for index in 0..<8 {
            words.0 = words.0 << 8 | UInt64(bytes[index])
            words.1 = words.1 << 8 | UInt64(bytes[index + 8])
            words.2 = words.2 << 8 | UInt64(bytes[index + 16])
            words.3 = words.3 << 8 | UInt64(bytes[index + 24])
        }
        self.words = InlineWords(
            first: words.0, second: words.1, third: words.2, fourth: words.3)
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(addingCapacity: Self.byteCount) { bytes in
            for index in 0..<Self.byteCount {
                let shift = UInt64(56 - 8 * (index & 7))
                bytes.append(UInt8(truncatingIfNeeded: word(index >> 3) >> shift))
            }
        }
        return bytes
    }

    /// Appends the unpadded base64url form to bytes that are being written.
    func appendBase64URL(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 43) { text in
            // Forty-two digits of six bits each, and the last four bits with two zeros after them.
            for index in 0..<42 {
                text.append(Base64URL.digit(sextet(index)))
            }
            text.append(Base64URL.digit(UInt32(truncatingIfNeeded: words.fourth) << 2))
        }
    }

    /// Checks whether the base64url form sorts before another's, byte by byte.
    func sortsAsText(before other: Digest) -> Bool {
        for index in 0..<42 {
            let digits = (Base64URL.digit(sextet(index)), Base64URL.digit(other.sextet(index)))
            if digits.0 != digits.1 { return digits.0 < digits.1 }
        }
        return Base64URL.digit(UInt32(truncatingIfNeeded: words.fourth) << 2)
            < Base64URL.digit(UInt32(truncatingIfNeeded: other.words.fourth) << 2)
    }

    /// Returns six bits at an index from the most significant end; they may span two words.
    @inline(__always)
    private func sextet(_ index: Int) -> UInt32 {
        let bit = index * 6
        let offset = UInt64(bit & 63)
        let word = word(bit >> 6)
        guard offset > 58 else { return UInt32(truncatingIfNeeded: word >> (58 - offset)) & 0x3F }
        let next = self.word((bit >> 6) + 1)
        return UInt32(truncatingIfNeeded: word << (offset - 58) | next >> (122 - offset)) & 0x3F
    }

    @inline(__always)
    private func word(_ index: Int) -> UInt64 {
        switch index {
        case 0: words.first
        case 1: words.second
        case 2: words.third
        default: words.fourth
        }
    }

    /// Reads the unpadded base64url form of 43 characters.
    package init?(base64URL text: some StringProtocol) {
        let characters = Array(text.utf8)
        self.init(base64URL: characters.span)
    }

    /// Reads the unpadded base64url form from its bytes.
    init?(base64URL text: Span<UInt8>) {
        guard let words = Base64URL.decodeWords(text) else { return nil }
        self.init(words.0, words.1, words.2, words.3)
    }

    /// The unpadded base64url form.
    package var description: String {
        var text: [UInt8] = []
        appendBase64URL(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

/// Hashes bytes with SHA-256; passed in, because the model does no cryptography of its own.
package typealias HashFunction = @Sendable ([UInt8]) -> Digest
