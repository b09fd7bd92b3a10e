internal import Ledger
internal import TransparencyLog

extension ProvedInclusion {
    /// The proof in the C2SP format that other tools read offline; nil when the stored text is not
    /// a note.
    var tlogProof: String? {
        let path = path.compactMap { TreeHash($0.bytes) }
        guard let note = try? SignedNote(parsing: Array(checkpoint.note.utf8)) else { return nil }
        let proof = InclusionProof(position: position.value, size: checkpoint.size, path: path)
        return TLogProof(proof, note).description
    }
}
