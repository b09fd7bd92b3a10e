/// The reasons why a signed note, or its content, is invalid.
package enum NoteFault: Error, Hashable, Sendable {
    /// It is longer than any note with `SignedNote.signaturesMax` signatures.
    case tooLong
    /// It is not valid UTF-8, or has a control character other than a newline.
    case notText
    /// It is not text that ends in a newline, then an empty line, then signature lines.
    case noSignatures
    /// A line after the empty one is not a signature.
    case malformedSignature
    /// It has more than `SignedNote.signaturesMax` signatures.
    case tooManySignatures
    /// A signature that bears the name of a known key was not made by it.
    case wrongSignature(NoteKeyName)
    /// No known key has signed.
    case noKnownSignature
    /// The text is not a checkpoint.
    case malformedCheckpoint
    /// The text around a proof and its checkpoint is not a `.tlog-proof`.
    case malformedProof
}
