internal import COpenSSL

/// AES-256 in Galois/Counter Mode with a random nonce, NIST SP 800-38D.
///
/// A box is the 12-byte nonce, the ciphertext and the 16-byte tag. One key must not seal more than
/// 2^32 boxes, the bound of SP 800-38D section 8.3 for random nonces.
package enum AESGCM {
    /// Number of bytes of a box's nonce.
    package static let nonceByteCount = 12

    /// Number of bytes of a box's tag.
    package static let tagByteCount = 16

    /// Largest plaintext that can be sealed, in bytes.
    package static let plaintextBytesMax = 1 << 30

    // A nonce is not secret: it is part of its box.
    private static let nonceBits = IdentifierBits()

    /// Encrypts a plaintext and authenticates it together with additional bytes.
    ///
    /// The additional bytes are not in the box; the opener must present the same ones.
    package static func seal(
        _ plaintext: [UInt8], key: SymmetricKey, additional: [UInt8]
    ) -> [UInt8] {
        seal(plaintext, key: key, additional: additional, nonce: newNonce())
    }

    /// Returns a random nonce.
    fileprivate static func newNonce() -> [UInt8] {
        let bits = nonceBits.next()
        return (0..<nonceByteCount).map { UInt8(truncatingIfNeeded: bits >> UInt128(8 * $0)) }
    }

    /// Decrypts a box; nil when the key, the additional bytes or any bit of the box differs.
    package static func open(
        _ box: [UInt8], key: SymmetricKey, additional: [UInt8]
    ) -> [UInt8]? {
        let sealedCount = box.count - nonceByteCount - tagByteCount
        guard sealedCount >= 0, sealedCount <= plaintextBytesMax else {
            return nil
        }
        let context = CipherContext(
            .decrypt, key: key, nonce: box[..<nonceByteCount], additional: additional)
        let sealed = box[nonceByteCount..<nonceByteCount + sealedCount]
        let plaintext = unsafe [UInt8](unsafeUninitializedCapacity: sealedCount) { output, count in
            unsafe context.crypt(sealed, to: output)
            count = sealedCount
        }
        guard context.finishes(withTag: box[(nonceByteCount + sealedCount)...]) else {
            return nil
        }
        return plaintext
    }

    /// Seals with the caller's nonce; only for published test vectors.
    static func seal(
        _ plaintext: [UInt8], key: SymmetricKey, additional: [UInt8], nonce: [UInt8]
    ) -> [UInt8] {
        precondition(nonce.count == nonceByteCount, "an AES-GCM nonce has 12 bytes")
        let context = CipherContext(.encrypt, key: key, nonce: nonce[...], additional: additional)
        return box(plaintext, nonce: nonce, in: context)
    }

    /// Encrypts a plaintext in a context that was started with the nonce.
    fileprivate static func box(
        _ plaintext: [UInt8], nonce: [UInt8], in context: borrowing CipherContext
    ) -> [UInt8] {
        precondition(plaintext.count <= plaintextBytesMax, "a plaintext has at most 1 GiB")
        let tagStart = nonceByteCount + plaintext.count
        return unsafe [UInt8](unsafeUninitializedCapacity: tagStart + tagByteCount) { box, count in
            _ = unsafe box.update(fromContentsOf: nonce)
            unsafe context.crypt(
                plaintext[...],
                to: UnsafeMutableBufferPointer(rebasing: box[nonceByteCount..<tagStart]))
            unsafe context.finish(
                writingTag: UnsafeMutableBufferPointer(rebasing: box[tagStart...]))
            count = tagStart + tagByteCount
        }
    }
}

/// Encryptions by ``AESGCM`` one after the other.
///
/// OpenSSL's memory is allocated once, and the schedule of a key is made once for the boxes in a row that it seals.
package final class AESGCMSealer {
    private let context = CipherContext()
    /// The key of the last box.
    private var key: SymmetricKey?

    /// Creates a sealer that has sealed nothing.
    package init() {}

    /// Encrypts a plaintext as ``AESGCM/seal(_:key:additional:)`` does.
    package func seal(
        _ plaintext: [UInt8], key: SymmetricKey, additional: [UInt8]
    ) -> [UInt8] {
        let nonce = AESGCM.newNonce()
        let isKnown = self.key?.isCopy(of: key) ?? false
        context.encrypt(with: isKnown ? nil : key, nonce: nonce, additional: additional)
        self.key = key
        return AESGCM.box(plaintext, nonce: nonce, in: context)
    }
}

// The context may be used by one thread only.
@available(*, unavailable)
extension AESGCMSealer: Sendable {}
