/// A statement of a log: its name, its number of leaves, and their root.
///
/// C2SP tlog-checkpoint, version 1. A checkpoint proves nothing before `open`.
package struct Checkpoint: Hashable, Sendable {
    /// The name of the log, which is also the name of its signing key.
    package let origin: NoteKeyName
    /// The number of leaves.
    package let size: Int64
    /// The root over them.
    package let root: TreeHash
    /// Extension lines; ours has none.
    package let extensions: [String]

    /// States a size and a root of a log.
    package init(origin: NoteKeyName, size: Int64, root: TreeHash) {
        precondition(size >= 0, "a tree has no negative number of leaves")
        self.origin = origin
        self.size = size
        self.root = root
        extensions = []
    }

    /// Reads the text of a note; nil when it is not a checkpoint.
    package init?(text: String) {
        let lines = text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { String(decoding: $0, as: UTF8.self) }
        // The last line, after the last newline, is empty.
        guard
            lines.count >= 4, lines.last?.isEmpty == true,
            lines.dropLast().allSatisfy({ !$0.isEmpty }),
            let origin = NoteKeyName(lines[0]),
            let size = Int64(plainDecimal: lines[1]),
            let root = TreeHash(base64: lines[2]), size > 0 || root == .emptyRoot
        else {
            return nil
        }
        self.origin = origin
        self.size = size
        self.root = root
        extensions = Array(lines[3...].dropLast())
    }

    /// The text to sign.
    package var text: String {
        "\(origin)\n\(size)\n\(root)\n" + extensions.map { $0 + "\n" }.joined()
    }

    /// Returns the checkpoint as a signed note.
    package func signed(by signers: [NoteSigner]) -> SignedNote {
        SignedNote(text, signedBy: signers)
    }

    /// Reads a checkpoint that the log's own key, one of these, has signed.
    ///
    /// Other keys in the list may have signed, too. One wrong signature by a listed key makes the
    /// whole note invalid.
    package static func open(
        _ note: SignedNote, _ verifiers: [NoteVerifier]
    ) throws(NoteFault) -> Checkpoint {
        let signers = try note.verify(verifiers)
        guard let checkpoint = Checkpoint(text: note.text) else { throw .malformedCheckpoint }
        guard signers.contains(where: { $0.name == checkpoint.origin }) else {
            throw .noKnownSignature
        }
        return checkpoint
    }
}

extension Int64 {
    /// Reads ASCII digits without a sign or a leading zero; nil for any other text.
    init?(plainDecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard
            !digits.isEmpty, digits.count <= 19,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.count == 1 || digits[0] != UInt8(ascii: "0"),
            let number = Int64(text)
        else {
            return nil
        }
        self = number
    }
}
