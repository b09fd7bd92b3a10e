internal import Cryptography

/// The conditions of one registration or sign-in, which the server has sent to a browser.
///
/// The caller takes care that a challenge is accepted once, and only for as long as it is valid.
package struct PasskeyCeremony: Sendable {
    /// The treatment of user verification: by a PIN, a fingerprint or the like.
    package enum UserVerification: String, Hashable, Sendable, CaseIterable {
        /// Responses without it are refused.
        case required
        /// Authenticators that are able to verify the user do it.
        case preferred
        /// Authenticators only ask for a touch, as for a second factor.
        case discouraged
    }

    /// The number of bytes of a new challenge.
    package static let challengeByteCount = 32

    /// The service that the ceremony is for.
    package let relyingParty: RelyingParty
    /// The bytes that the response is bound to.
    package let challenge: [UInt8]
    /// The treatment of user verification.
    package let userVerification: UserVerification

    /// Makes a ceremony; nil unless the challenge has ``PasskeyLimits/challengeByteCounts`` bytes.
    package init?(
        relyingParty: RelyingParty, challenge: [UInt8], userVerification: UserVerification
    ) {
        guard PasskeyLimits.challengeByteCounts.contains(challenge.count) else { return nil }
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.userVerification = userVerification
    }

    /// Makes random bytes for a challenge.
    package static func newChallenge() -> [UInt8] {
        SecureRandom.bytes(challengeByteCount)
    }

    /// Checks an authenticator's flags and its relying party.
    func check(_ data: AuthenticatorData) throws(PasskeyFault) {
        guard constantTimeEqual(data.relyingPartyHash, SHA256.hash(relyingParty.id)) else {
            throw .wrongRelyingParty
        }
        guard data.flags.contains(.userPresent) else { throw .userNotPresent }
        guard userVerification != .required || data.flags.contains(.userVerified) else {
            throw .userNotVerified
        }
        guard data.flags.contains(.backupEligible) || !data.flags.contains(.backedUp) else {
            throw .contradictoryFlags
        }
    }
}
