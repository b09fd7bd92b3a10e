/// The accepted attestations: statements of an authenticator about itself.
///
/// ``PasskeyCreationOptions`` does not request attestation. A browser may send it nevertheless; its signature is then
/// verified, so that a damaged one is refused. No certificate is compared with those of manufacturers,
/// so that an attestation proves nothing about the kind of authenticator, and nor does the AAGUID.
/// Formats other than `none`, `packed` and `fido-u2f` are refused.
package enum PasskeyAttestation: Hashable, Sendable {
    case none
    /// Signed with the key of the credential itself, in the format `packed`.
    case selfSigned
    /// Signed with the key of a certificate in the statement, in the format `packed` or `fido-u2f`.
    case certificate
}
