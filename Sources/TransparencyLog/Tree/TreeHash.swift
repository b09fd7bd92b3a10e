internal import Cryptography
internal import Encodings

/// The hash of a node of a Merkle tree: SHA-256 as applied by RFC 6962 section 2.1.
///
/// Leaves and inner nodes are hashed with different first bytes, so that neither can be taken for
/// the other. The description is standard base64, as in checkpoints and proofs.
package struct TreeHash: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of every hash.
    package static let byteCount = SHA256.byteCount

    /// The root of a tree without leaves: the digest of nothing.
    package static let emptyRoot = TreeHash(digest: SHA256.hash([UInt8]()))

    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    /// Wraps exactly 32 bytes; nil for any other count.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == TreeHash.byteCount else { return nil }
        self.init(digest: bytes)
    }

    /// Wraps 32 bytes at an offset; nil when fewer remain.
    package init?(_ bytes: [UInt8], at offset: Int) {
        guard offset >= 0, bytes.count - TreeHash.byteCount >= offset else { return nil }
        first = TreeHash.word(bytes, offset)
        second = TreeHash.word(bytes, offset + 8)
        third = TreeHash.word(bytes, offset + 16)
        fourth = TreeHash.word(bytes, offset + 24)
    }

    /// Reads the padded base64 of 32 bytes; nil for any other text.
    package init?(base64 text: some StringProtocol) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes)
    }

    private init(digest bytes: [UInt8]) {
        first = TreeHash.word(bytes, 0)
        second = TreeHash.word(bytes, 8)
        third = TreeHash.word(bytes, 16)
        fourth = TreeHash.word(bytes, 24)
    }

    /// Hashes the exact bytes of an entry as a leaf.
    package static func leaf(_ entry: [UInt8]) -> TreeHash {
        TreeHash(digest: SHA256.leafHash(entry))
    }

    /// Hashes two children as their parent.
    package static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        TreeHash(digest: SHA256.nodeHash(left.bytes, right.bytes))
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(TreeHash.byteCount)
        append(to: &bytes)
        return bytes
    }

    /// Appends the 32 bytes.
    package func append(to bytes: inout [UInt8]) {
        TreeHash.append(first, to: &bytes)
        TreeHash.append(second, to: &bytes)
        TreeHash.append(third, to: &bytes)
        TreeHash.append(fourth, to: &bytes)
    }

    /// The padded base64 of the bytes.
    package var description: String {
        Base64.encode(bytes)
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in offset..<(offset + 8) {
            word = word << 8 | UInt64(bytes[index])
        }
        return word
    }

    private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
        }
    }
}
