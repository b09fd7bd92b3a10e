package import Cryptography

/// A key that signs notes, with its name.
package struct NoteSigner: Sendable {
    /// What checks the signatures.
    package let verifier: NoteVerifier
    private let privateKey: Ed25519PrivateKey

    /// Gives a key its name.
    package init(name: NoteKeyName, privateKey: Ed25519PrivateKey) {
        verifier = NoteVerifier(name: name, publicKey: privateKey.publicKey)
        self.privateKey = privateKey
    }

    /// The signature line over a note's text, with its newline.
    func line(over text: String) -> String {
        let signature = privateKey.sign(Array(text.utf8))
        return "\u{2014} \(verifier.name) "
            + Base64.encode(verifier.keyID.bigEndianBytes + signature) + "\n"
    }
}
