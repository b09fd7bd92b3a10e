internal import Cryptography
internal import Encodings

/// A text with signatures: C2SP signed-note, version 1.
///
/// Parsing checks only the form. The text proves nothing before `verify` returns.
package struct SignedNote: Hashable, Sendable {
    /// The maximum number of signatures of a note, which bounds the work that a forged one causes.
    package static let signaturesMax = 100
    /// The maximum size of a note, in bytes: a hundred post-quantum signatures and their names.
    package static let bytesMax = 1 << 20

    /// The signed bytes: lines, each with its newline.
    package let text: String
    /// The signatures in the note's order, including those of unknown keys.
    package let signatures: [NoteSignature]

    /// Signs a text.
    ///
    /// - Precondition: the text ends in a newline and has no other control character.
    package init(_ text: String, signedBy signers: [NoteSigner]) {
        precondition(
            SignedNote.isText(text) && text.utf8.last == SignedNote.newline,
            "lines without control characters")
        let lines = signers.map { $0.line(over: text) }
        self.text = text
        signatures = lines.compactMap { NoteSignature(line: Array($0.utf8.dropLast())[...]) }
    }

    /// Reads an untrusted note.
    package init(parsing note: String) throws(NoteFault) {
        try self.init(parsing: Array(note.utf8))
    }

    /// Reads an untrusted note.
    package init(parsing note: [UInt8]) throws(NoteFault) {
        guard note.count <= SignedNote.bytesMax else { throw .tooLong }
        guard let whole = String(validating: note, as: UTF8.self), SignedNote.isText(whole) else {
            throw .notText
        }
        guard let end = SignedNote.endOfText(note), note.last == SignedNote.newline,
            note.count > end + 1
        else {
            throw .noSignatures
        }
        text = String(decoding: note[..<end], as: UTF8.self)
        // One newline ends the text; the next one is the empty line.
        let lines = note[(end + 1)...].dropLast().split(
            separator: SignedNote.newline, maxSplits: SignedNote.signaturesMax,
            omittingEmptySubsequences: false)
        guard lines.count <= SignedNote.signaturesMax else { throw .tooManySignatures }
        var signatures: [NoteSignature] = []
        for line in lines {
            guard let signature = NoteSignature(line: line) else { throw .malformedSignature }
            signatures.append(signature)
        }
        self.signatures = signatures
    }

    /// Returns the keys that have signed, at least one.
    ///
    /// Signatures of unknown keys are ignored. A wrong signature with the name and id of a listed
    /// key makes the whole note invalid.
    @discardableResult
    package func verify(_ verifiers: [NoteVerifier]) throws(NoteFault) -> [NoteVerifier] {
        let signed = Array(text.utf8)
        var found: [NoteVerifier] = []
        for verifier in verifiers {
            let own = signatures.filter {
                $0.name == verifier.name && $0.keyID == verifier.keyID
            }
            for signature in own
            where !verifier.publicKey.verifies(signature.bytes, of: signed) {
                throw .wrongSignature(verifier.name)
            }
            if !own.isEmpty {
                found.append(verifier)
            }
        }
        guard !found.isEmpty else { throw .noKnownSignature }
        return found
    }

    /// The note in its stored format.
    package var description: String {
        text + "\n" + signatures.map(\.line).joined()
    }

    private static let newline = UInt8(ascii: "\n")

    private static func isText(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 || $0 == newline }
    }

    /// Returns the end of the text: after the first of the last two consecutive newlines.
    private static func endOfText(_ note: [UInt8]) -> Int? {
        guard note.count >= 2 else { return nil }
        return (1..<note.count).last { note[$0] == newline && note[$0 - 1] == newline }
    }
}

/// One signature of a note.
package struct NoteSignature: Hashable, Sendable {
    /// The name of the key.
    package let name: NoteKeyName
    /// The id of the key among keys of its name.
    package let keyID: UInt32
    /// The signature, in the format of the key's type.
    package let bytes: [UInt8]

    private static let start = Array("\u{2014} ".utf8)

    /// Reads a line without its newline; nil when it is not a signature.
    init?(line: ArraySlice<UInt8>) {
        guard line.starts(with: NoteSignature.start) else { return nil }
        let parts = line.dropFirst(NoteSignature.start.count).split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard
            parts.count == 2, let name = NoteKeyName(String(decoding: parts[0], as: UTF8.self)),
            let decoded = Base64.decode(parts[1]), decoded.count > 4
        else {
            return nil
        }
        self.name = name
        keyID = UInt32(bigEndianBytes: decoded.prefix(4))
        bytes = Array(decoded.dropFirst(4))
    }

    /// The line with its newline.
    var line: String {
        "\u{2014} \(name) " + Base64.encode(keyID.bigEndianBytes + bytes) + "\n"
    }
}
