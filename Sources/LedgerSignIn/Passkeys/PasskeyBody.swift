internal import Cryptography
package import JSON
internal import Ledger

/// The credential of a passkey: the challenge, and the browser's response to it.
package struct PasskeyBody: Sendable {
    let challenge: String
    let credential: JSONValue

    /// Describes a response that a client presents.
    package init(challenge: String, credential: JSONValue) {
        self.challenge = challenge
        self.credential = credential
    }

    /// Whether it is the response of a registration.
    var isRegistration: Bool {
        credential.members?["response"]?.members?["attestationObject"] != nil
    }

    /// SHA-256 of the challenge, each of which is answered once.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash("passkey:\(challenge)")) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
