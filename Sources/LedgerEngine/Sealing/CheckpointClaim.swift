import JSON
import Ledger
package import TransparencyLog

/// The content of a `checkpoints` row, which its signed note must confirm.
///
/// A login with write access to the table can add rows, but without a key no valid ones.
package struct CheckpointClaim: Sendable {
    let origin: String
    package let size: Int64
    /// Nil if the row holds no valid root.
    let root: TreeHash?
    let note: String

    /// Creates the claim of a row.
    package init(origin: String, size: Int64, root: TreeHash?, note: String) {
        self.origin = origin
        self.size = size
        self.root = root
        self.note = note
    }

    /// Returns the reason for which the note does not confirm the row under one of these keys; nil
    /// if it does.
    package func fault(_ verifiers: [NoteVerifier]) -> String? {
        do throws(NoteFault) {
            let checkpoint = try Checkpoint.open(try SignedNote(parsing: note), verifiers)
            guard checkpoint.size == size, checkpoint.root == root,
                checkpoint.origin.description.utf8.elementsEqual(origin.utf8)
            else { return "contradicts its row" }
            return nil
        } catch {
            return switch error {
            case .noKnownSignature: "is not signed by a known key"
            case .wrongSignature: "has an invalid signature"
            case .tooLong, .notText, .noSignatures, .malformedSignature, .tooManySignatures,
                .malformedCheckpoint, .malformedProof:
                "is not a signed checkpoint"
            }
        }
    }
}

extension SignedCheckpoint {
    /// Returns the reason for which the note does not confirm the row under one of these keys; nil
    /// if it does.
    package func fault(_ verifiers: [NoteVerifier]) -> String? {
        CheckpointClaim(origin: origin, size: size, root: TreeHash(root), note: note)
            .fault(verifiers)
    }

    /// Checks whether one of these keys has signed another root at this size of this log.
    ///
    /// An invented row can never show this.
    package func isSignedOtherwise(_ verifiers: [NoteVerifier]) -> Bool {
        guard let signed = try? SignedNote(parsing: note),
            let checkpoint = try? Checkpoint.open(signed, verifiers)
        else { return false }
        return checkpoint.size == size && checkpoint.root != TreeHash(root)
            && checkpoint.origin.description.isExactly(origin)
    }
}
