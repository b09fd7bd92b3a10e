package import Cryptography
internal import Encodings

/// A named key that verifies notes: the content of a C2SP verifier key (`vkey`).
package struct NoteVerifier: Sendable {
    /// The type byte of Ed25519 signatures over a note's text.
    static let ed25519: UInt8 = 0x01

    /// The name of the key.
    package let name: NoteKeyName
    /// The id that distinguishes keys of one name; neither secret nor a proof.
    package let keyID: UInt32
    /// The key.
    package let publicKey: Ed25519PublicKey

    /// Creates a verifier.
    package init(name: NoteKeyName, publicKey: Ed25519PublicKey) {
        self.name = name
        self.publicKey = publicKey
        let digest = SHA256.hash(
            Array(name.description.utf8), [UInt8(ascii: "\n"), NoteVerifier.ed25519],
            publicKey.bytes)
        keyID = UInt32(bigEndianBytes: digest.prefix(4))
    }

    /// Reads `name+id+key`: eight lower-case hexadecimal digits, then base64 of the type and the key.
    ///
    /// Nil when it is malformed, the id does not match the key, or the key is not an Ed25519 key.
    package init?(_ vkey: String) {
        let parts = vkey.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard
            parts.count == 3, let name = NoteKeyName(String(parts[0])),
            let id = Hex.decode(parts[1]), id.count == 4, Hex.encode(id) == parts[1],
            let key = Base64.decode(parts[2]), key.first == NoteVerifier.ed25519,
            let publicKey = Ed25519PublicKey(bytes: Array(key.dropFirst()))
        else {
            return nil
        }
        self.init(name: name, publicKey: publicKey)
        guard keyID == UInt32(bigEndianBytes: id[...]) else { return nil }
    }

    /// The verifier key in its text format.
    package var vkey: String {
        "\(name)+\(Hex.encode(keyID.bigEndianBytes))+"
            + Base64.encode([NoteVerifier.ed25519] + publicKey.bytes)
    }
}

extension UInt32 {
    init(bigEndianBytes bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
    }
}
