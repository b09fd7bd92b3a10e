/// The reason why a registration or an assertion is refused.
package enum PasskeyFault: Error, Hashable, Sendable, CaseIterable {
    /// A response is not of the form of `RegistrationResponseJSON` or `AuthenticationResponseJSON`.
    case malformedResponse
    /// An input has more bytes than ``PasskeyLimits`` has for it.
    case tooLong
    case malformedClientData
    /// The client data are of another ceremony, such as those of a sign-in for a registration.
    case wrongType
    case wrongChallenge
    /// The page's origin is not one of the relying party's.
    case wrongOrigin
    /// The page was in a frame of another origin's page.
    case crossOrigin
    case malformedAttestationObject
    case malformedAuthenticatorData
    /// The authenticator's answer is for another relying party.
    case wrongRelyingParty
    case userNotPresent
    /// The user was not verified, which was required.
    case userNotVerified
    /// The flags say that a credential is backed up which can't be.
    case contradictoryFlags
    /// A registration is without a credential.
    case missingCredential
    /// The id of a credential is empty or has more than 1023 bytes.
    case credentialIDLength
    /// The key is for another algorithm than those of ``PasskeyAlgorithm``.
    case unsupportedAlgorithm
    /// The key is not one of its algorithm, such as a point off the curve.
    ///
    /// Also for answers to extensions after the key that the library can't decode.
    case invalidPublicKey
    /// The format of the attestation is not one of ``PasskeyAttestation``.
    case unsupportedAttestation
    /// The signature of the attestation is wrong.
    case invalidAttestation
    /// The response is of another credential than the expected one.
    case wrongCredential
    /// The authenticator has stored the credential for another user.
    case wrongUserHandle
    /// The credential's eligibility for backups, which never changes, is not the registered one.
    case changedBackupEligibility
    /// The signature of an assertion is wrong.
    case invalidSignature
    /// The library has no memory.
    case noMemory
}
