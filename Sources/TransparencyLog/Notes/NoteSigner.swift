package import Cryptography
internal import Encodings

/// A named key that signs notes.
package struct NoteSigner: Sendable {
    /// The matching verifier.
    package let verifier: NoteVerifier
    private let privateKey: Ed25519PrivateKey

    /// Creates a signer.
    package init(name: NoteKeyName, privateKey: Ed25519PrivateKey) {
        verifier = NoteVerifier(name: name, publicKey: privateKey.publicKey)
        self.privateKey = privateKey
    }

    /// Returns the signature line over a note's text, with its newline.
    func line(over text: String) -> String {
        let signature = privateKey.sign(Array(text.utf8))
        return "\u{2014} \(verifier.name) "
            + Base64.encode(verifier.keyID.bigEndianBytes + signature) + "\n"
    }
}
