internal import Cryptography
internal import Encodings
internal import Ledger

/// The result of a browser flow as the client that began it presents it.
package struct FlowBody: Sendable {
    /// The shortest and the longest verifier, in characters (RFC 7636, section 4.1).
    package static let verifierLengths = 43...128

    let code: String
    let verifier: String

    /// Describes a credential.
    package init(code: String, verifier: String) {
        self.code = code
        self.verifier = verifier
    }

    /// Checks whether a text is a challenge (RFC 7636, section 4.2, method S256).
    package static func isChallenge(_ text: String) -> Bool {
        Base64URL.decode(text)?.count == SHA256.byteCount
    }

    /// Returns the challenge of a verifier (RFC 7636, section 4.2, method S256).
    static func challenge(of verifier: String) -> String { Base64URL.encode(SHA256.hash(verifier)) }

    /// The challenge of the verifier.
    var challenge: String { Self.challenge(of: verifier) }

    /// SHA-256 of the code.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash("flow:\(code)")) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
