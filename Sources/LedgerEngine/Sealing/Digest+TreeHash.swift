package import Ledger
package import TransparencyLog

extension Digest {
    /// Converts a tree hash with the same 32 bytes.
    package init(_ hash: TreeHash) {
        guard let digest = Digest(hash.bytes) else { preconditionFailure("a hash has 32 bytes") }
        self = digest
    }
}

extension TreeHash {
    /// Converts a digest with the same 32 bytes.
    package init(_ digest: Digest) {
        guard let hash = TreeHash(digest.bytes) else {
            preconditionFailure("a digest has 32 bytes")
        }
        self = hash
    }
}

extension [TreeHash?] {
    /// The hashes if none is missing.
    package var whole: [TreeHash]? {
        let found = compactMap(\.self)
        return found.count == count ? found : nil
    }
}
