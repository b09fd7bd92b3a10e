import Cryptography
package import Ledger

/// The digests of the log, in the model's form.
package enum LogDigest {
    /// Returns the RFC 6962 leaf hash of an entry.
    package static func leaf(_ entry: [UInt8]) -> Digest {
        digest(SHA256.leafWords(of: entry))
    }

    /// Returns the SHA-256 of bytes.
    package static func sha256(_ bytes: [UInt8]) -> Digest {
        digest(SHA256.words(of: bytes))
    }

    private static func digest(_ words: SHA256.Words) -> Digest {
        Digest(words.0, words.1, words.2, words.3)
    }
}
