internal import COpenSSL

/// SHA-256, and its two domain-separated forms for Merkle trees.
///
/// Each call makes a context: with the algorithm fetched once, that costs 20 ns more than reusing one,
/// and nothing is shared between threads. Fetching the algorithm by name in each call would cost 175 ns.
package enum SHA256 {
    /// Number of bytes in a digest.
    package static let byteCount = 32

    /// A digest as four numbers, most significant first.
    package typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// Digests bytes.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        digest { context in
            context.update(bytes)
        }
    }

    /// Digests the UTF-8 bytes of a text without copying them.
    package static func hash(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { bytes in
            digest { context in
                unsafe context.update(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// Digests the concatenation of several byte sequences without joining them.
    package static func hash(_ parts: [UInt8]...) -> [UInt8] {
        digest { context in
            for part in parts {
                context.update(part)
            }
        }
    }

    /// Digests a leaf of a Merkle tree, which is 0x00 followed by the entry.
    ///
    /// RFC 6962 section 2.1.
    package static func leafHash(_ entry: [UInt8]) -> [UInt8] {
        digest { context in
            context.update([0x00])
            context.update(entry)
        }
    }

    /// Digests an inner node of a Merkle tree, which is 0x01 followed by both children.
    ///
    /// RFC 6962 section 2.1.
    package static func nodeHash(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        digest { context in
            context.update([0x01])
            context.update(left)
            context.update(right)
        }
    }

    /// Digests bytes into words, for callers that store digests without an array for each.
    package static func words(of bytes: [UInt8]) -> Words {
        let context = DigestContext()
        context.update(bytes)
        return context.finishedWords()
    }

    /// Digests a leaf of a Merkle tree into words.
    package static func leafWords(of entry: [UInt8]) -> Words {
        let context = DigestContext()
        context.update([0x00])
        context.update(entry)
        return context.finishedWords()
    }

    private static func digest(_ feed: (borrowing DigestContext) -> Void) -> [UInt8] {
        let context = DigestContext()
        feed(context)
        return context.finished()
    }
}

/// A SHA-256 computation; owns its OpenSSL context.
@safe private struct DigestContext: ~Copyable {
    private let context: OpaquePointer

    init() {
        guard
            let made = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(made, FetchedAlgorithms.sha256, nil) == 1
        else {
            preconditionFailure("OpenSSL can't start a SHA-256 digest")
        }
        unsafe context = made
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe update(buffer)
        }
    }

    func update(_ buffer: UnsafeRawBufferPointer) {
        let status = unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
        precondition(status == 1, "OpenSSL can't continue a SHA-256 digest")
    }

    func finished() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, count in
            let status = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(status == 1, "OpenSSL can't end a SHA-256 digest")
            count = SHA256.byteCount
        }
    }

    func finishedWords() -> SHA256.Words {
        unsafe withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { digest in
            let status = unsafe EVP_DigestFinal_ex(
                context, digest.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
            precondition(status == 1, "OpenSSL can't end a SHA-256 digest")
            return unsafe (
                word(0, of: digest), word(1, of: digest), word(2, of: digest), word(3, of: digest)
            )
        }
    }

    private func word(_ index: Int, of digest: UnsafeMutableRawBufferPointer) -> UInt64 {
        unsafe UInt64(bigEndian: digest.load(fromByteOffset: 8 * index, as: UInt64.self))
    }
}
