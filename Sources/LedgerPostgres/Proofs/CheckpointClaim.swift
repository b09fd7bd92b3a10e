import Ledger
import TransparencyLog

/// What a row of `checkpoints` says, whose note has to say the same under a signature.
///
/// Who may write to the table can add rows; who lacks a key can add none that is to be believed.
struct CheckpointClaim: Sendable {
    let origin: String
    let size: Int64
    /// Nil when the row holds no root.
    let root: TreeHash?
    let note: String

    /// Why the note is not what the row says, signed by a key of these; nil when it is.
    func fault(_ verifiers: [NoteVerifier]) -> String? {
        do throws(NoteFault) {
            let checkpoint = try Checkpoint.open(try SignedNote(parsing: note), verifiers)
            guard checkpoint.size == size, checkpoint.root == root,
                checkpoint.origin.description.utf8.elementsEqual(origin.utf8)
            else { return "does not say what its row says" }
            return nil
        } catch {
            return switch error {
            case .noKnownSignature: "is signed by no key that is known"
            case .wrongSignature: "has a signature that its key did not make"
            case .tooLong, .notText, .noSignatures, .malformedSignature, .tooManySignatures,
                .malformedCheckpoint, .malformedProof:
                "is no signed checkpoint"
            }
        }
    }
}

extension SignedCheckpoint {
    /// Why the note is not what the row says, signed by a key of these; nil when it is.
    func fault(_ verifiers: [NoteVerifier]) -> String? {
        CheckpointClaim(origin: origin, size: size, root: TreeHash(root), note: note)
            .fault(verifiers)
    }

    /// Whether a key of these has signed another root at this size of this log: what no row that was made up
    /// can show.
    func isSignedOtherwise(_ verifiers: [NoteVerifier]) -> Bool {
        guard let signed = try? SignedNote(parsing: note),
            let checkpoint = try? Checkpoint.open(signed, verifiers)
        else { return false }
        return checkpoint.size == size && checkpoint.root != TreeHash(root)
            && isExactly(checkpoint.origin.description, origin)
    }
}
