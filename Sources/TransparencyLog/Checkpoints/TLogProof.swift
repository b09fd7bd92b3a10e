internal import Cryptography
internal import Encodings

/// An offline proof that an entry is in a log: an inclusion proof and the signed checkpoint it
/// leads to.
///
/// C2SP tlog-proof, version 1; stored in files with the extension `.tlog-proof`.
package struct TLogProof: Hashable, Sendable {
    /// The maximum size, in bytes: that of a note, and of more hashes than any tree has levels.
    package static let bytesMax = SignedNote.bytesMax + 1 << 16
    /// The maximum path length of a tree with less than 2^63 leaves.
    private static let hashesMax = 63
    private static let firstLine = "c2sp.org/tlog-proof@v1"

    /// An application's own data, which nothing authenticates.
    package let extra: [UInt8]?
    /// The position of the entry.
    package let position: Int64
    /// The siblings on the path from the entry to the root.
    package let path: [TreeHash]
    /// The signed checkpoint.
    package let note: SignedNote

    /// Combines a proof with its checkpoint.
    package init(_ proof: InclusionProof, _ note: SignedNote) {
        extra = nil
        position = proof.position
        path = proof.path
        self.note = note
    }

    /// Reads an untrusted proof.
    package init(parsing proof: [UInt8]) throws(NoteFault) {
        guard proof.count <= TLogProof.bytesMax else { throw .tooLong }
        var lines = LineReader(proof)
        guard lines.next() == TLogProof.firstLine, var line = lines.next() else {
            throw .malformedProof
        }
        var extra: [UInt8]?
        if let text = line.suffix(after: "extra ") {
            guard let bytes = Base64.decode(text), let next = lines.next() else {
                throw .malformedProof
            }
            extra = bytes
            line = next
        }
        guard let index = line.suffix(after: "index "), let position = Int64(plainDecimal: index)
        else {
            throw .malformedProof
        }
        var path: [TreeHash] = []
        while true {
            // A line that is not valid text does not end the path.
            guard let line = lines.next() else { throw .malformedProof }
            guard !line.isEmpty else { break }
            guard path.count < TLogProof.hashesMax, let hash = TreeHash(base64: line) else {
                throw .malformedProof
            }
            path.append(hash)
        }
        self.extra = extra
        self.position = position
        self.path = path
        note = try SignedNote(parsing: Array(lines.rest))
    }

    /// The proof in its stored format.
    package var description: String {
        let added = extra.map { "extra \(Base64.encode($0))\n" } ?? ""
        return "\(TLogProof.firstLine)\n\(added)index \(position)\n"
            + path.map { "\($0)\n" }.joined() + "\n" + note.description
    }

    /// Returns the checkpoint if one of these keys has signed it and its tree contains the entry.
    @discardableResult
    package func verify(
        entry: [UInt8], _ verifiers: [NoteVerifier]
    ) throws(TLogProofFault) -> Checkpoint {
        let checkpoint: Checkpoint
        do {
            checkpoint = try Checkpoint.open(note, verifiers)
        } catch {
            throw .checkpoint(error)
        }
        let proof = InclusionProof(position: position, size: checkpoint.size, path: path)
        do {
            try proof.verify(leaf: .leaf(entry), root: checkpoint.root)
        } catch {
            throw .inclusion(error)
        }
        return checkpoint
    }
}

/// The reasons why a `.tlog-proof` is invalid.
package enum TLogProofFault: Error, Hashable, Sendable {
    /// Its checkpoint is invalid.
    case checkpoint(NoteFault)
    /// Its path does not lead from the entry to the checkpoint's root.
    case inclusion(ProofFault)
}

/// Removes lines from the front of bytes.
private struct LineReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// Returns the next line without its newline; nil when no newline follows, or for invalid
    /// UTF-8.
    mutating func next() -> String? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = String(validating: rest[..<end], as: UTF8.self)
        rest = rest[(end + 1)...]
        return line
    }
}

extension String {
    /// Returns the text after a prefix, compared byte by byte; nil without that prefix.
    fileprivate func suffix(after beginning: String) -> String? {
        guard utf8.starts(with: beginning.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(beginning.utf8.count), as: UTF8.self)
    }
}
