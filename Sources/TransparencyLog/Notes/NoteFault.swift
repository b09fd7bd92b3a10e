/// Why a signed note, or what it carries, is not to be trusted.
package enum NoteFault: Error, Hashable, Sendable {
    /// More bytes than any note of `SignedNote.signaturesMax` signatures needs.
    case tooLong
    /// No valid UTF-8, or a control character other than a newline.
    case notText
    /// No text that ends in a newline, then an empty line, then signature lines.
    case noSignatures
    /// A line after the empty one is no signature.
    case malformedSignature
    /// More than `SignedNote.signaturesMax` signatures.
    case tooManySignatures
    /// A key that is known did not make the signature that bears its name.
    case wrongSignature(NoteKeyName)
    /// None of the keys that are known has signed.
    case noKnownSignature
    /// The text is no checkpoint.
    case malformedCheckpoint
    /// The text around a proof and its checkpoint is no `.tlog-proof`.
    case malformedProof
}
