internal import Cryptography
internal import Ledger

/// The credential of a provider that sends codes: the code, and the challenge that it answers.
package struct CodeBody: Sendable {
    /// The challenge; nil for a text that names none.
    let challenge: ChallengeID?
    package let code: String
    /// The token that an earlier sign-in returned; nil for a device that has none.
    package let deviceToken: String?
    private let text: String

    /// Describes a code that a client presents.
    package init(challenge: String, code: String, deviceToken: String? = nil) {
        self.deviceToken = deviceToken
        self.challenge = ChallengeID(challenge)
        self.code = code
        text = "\(challenge):\(code)"
    }

    /// SHA-256 of both.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash(text)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
