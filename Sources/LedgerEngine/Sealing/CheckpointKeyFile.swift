import Cryptography
import Encodings
import TransparencyLog

/// The names and the contents of the checkpoint key files in a sealer's directory.
enum CheckpointKeyFile {
    static let bytesMax = 4_096
    private static let start = "checkpoint-"
    private static let signing = ".key"
    private static let retired = ".vkey"

    /// Returns the file name of a signing key: its secret, in the format of Go's `note.GenerateKey`.
    static func name(of verifier: NoteVerifier) -> String {
        start + id(of: verifier) + signing
    }

    /// Returns the file name of the public half of a retired key.
    static func retiredName(of verifier: NoteVerifier) -> String {
        start + id(of: verifier) + retired
    }

    /// Whether a file holds a signing key.
    static func isSigning(_ name: String) -> Bool {
        name.hasPrefix(start) && name.hasSuffix(signing)
    }

    /// Whether a file holds the public half of a retired key.
    static func isRetired(_ name: String) -> Bool {
        name.hasPrefix(start) && name.hasSuffix(retired)
    }

    /// Returns `PRIVATE+KEY+name+id+key`: eight hexadecimal digits, then base64 of the type and the secret.
    static func text(of key: Ed25519PrivateKey, name: NoteKeyName) -> String {
        let verifier = NoteVerifier(name: name, publicKey: key.publicKey)
        return "PRIVATE+KEY+\(name)+\(id(of: verifier))+"
            + Base64.encode([1] + key.copiedSeed()) + "\n"
    }

    /// Reads the file of a signing key; returns nil when it holds none.
    static func signer(_ bytes: [UInt8]) -> NoteSigner? {
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first?
            .split(separator: "+", maxSplits: 4, omittingEmptySubsequences: false)
        guard let parts, parts.count == 5, parts[0] == "PRIVATE", parts[1] == "KEY",
            let name = NoteKeyName(String(parts[2])), let secret = Base64.decode(parts[4]),
            secret.first == 1, let key = Ed25519PrivateKey(seed: Array(secret.dropFirst()))
        else { return nil }
        let signer = NoteSigner(name: name, privateKey: key)
        return id(of: signer.verifier) == parts[3] ? signer : nil
    }

    /// Reads the verifier key in the file of a retired key.
    static func verifier(_ bytes: [UInt8]) -> NoteVerifier? {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").first
            .flatMap { NoteVerifier(String($0)) }
    }

    /// Returns the eight hexadecimal digits that distinguish keys of the same name.
    static func id(of verifier: NoteVerifier) -> String {
        Hex.encode([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: verifier.keyID >> $0) })
    }
}
