import Cryptography
import Encodings
import Testing
import TransparencyLog

/// Signed notes and checkpoints as specified by C2SP signed-note and tlog-checkpoint.
@Suite struct NoteTests {
    private let log: NoteSigner
    private let other: NoteSigner
    private let checkpoint: Checkpoint

    init() throws {
        log = NoteSigner(
            name: try #require(NoteKeyName("log.example/one")), privateKey: .generate())
        other = NoteSigner(
            name: try #require(NoteKeyName("other.example")), privateKey: .generate())
        checkpoint = Checkpoint(origin: log.verifier.name, size: 3, root: .emptyRoot)
    }

    @Test func `a signed checkpoint is opened by any of several keys`() throws {
        let note = try SignedNote(parsing: checkpoint.signed(by: [other, log]).description)
        #expect(note == checkpoint.signed(by: [other, log]))
        #expect(try note.verify([log.verifier]).map(\.vkey) == [log.verifier.vkey])
        #expect(try note.verify([log.verifier, other.verifier]).count == 2)
        #expect(try Checkpoint.open(note, [log.verifier]) == checkpoint)
        #expect(try Checkpoint.open(note, [log.verifier, other.verifier]) == checkpoint)
    }

    @Test func `a note that no known key has signed is refused`() throws {
        let stranger = NoteSigner(name: log.verifier.name, privateKey: .generate())
        let note = checkpoint.signed(by: [log])
        #expect(throws: NoteFault.noKnownSignature) { try note.verify([]) }
        #expect(throws: NoteFault.noKnownSignature) { try note.verify([stranger.verifier]) }
        #expect(throws: NoteFault.noKnownSignature) { try note.verify([other.verifier]) }
    }

    @Test func `a checkpoint that only another log's key has signed is refused`() throws {
        let note = checkpoint.signed(by: [other])
        #expect(try note.verify([other.verifier]).count == 1)
        #expect(throws: NoteFault.noKnownSignature) {
            try Checkpoint.open(note, [other.verifier, log.verifier])
        }
    }

    @Test func `a known key's wrong signature invalidates the note`() throws {
        let good = checkpoint.signed(by: [log, other]).description
        let elsewhere = Checkpoint(origin: log.verifier.name, size: 4, root: .emptyRoot)
        let line = elsewhere.signed(by: [other]).description.split(separator: "\n")[3]
        let note = try SignedNote(parsing: good + line + "\n")
        #expect(throws: NoteFault.wrongSignature(other.verifier.name)) {
            try note.verify([log.verifier, other.verifier])
        }
        #expect(try note.verify([log.verifier]).count == 1)
    }

    @Test func `signatures of unknown keys and kinds are ignored`() throws {
        let unknown = (1...15).map { "\u{2014} w\($0) \(Base64.encode([9, 9, 9, 9, UInt8($0)]))\n" }
        let note = try SignedNote(
            parsing: checkpoint.signed(by: [log]).description + unknown.joined())
        #expect(note.signatures.count == 16)
        #expect(try Checkpoint.open(note, [log.verifier]) == checkpoint)
    }

    @Test func `a hundred signatures are accepted, one more is not`() throws {
        let lines = (1...100).map { "\u{2014} w\($0) AAAAAAA=\n" }
        let text = checkpoint.text + "\n"
        #expect(try SignedNote(parsing: text + lines.joined()).signatures.count == 100)
        #expect(throws: NoteFault.tooManySignatures) {
            try SignedNote(parsing: text + lines.joined() + lines[0])
        }
    }

    @Test(arguments: [
        ("", NoteFault.noSignatures), ("\n", .noSignatures), ("\n\n", .noSignatures),
        ("text\n\n", .noSignatures), ("text\n", .noSignatures),
        ("text\n\u{2014} n AAAAAAA=\n", .noSignatures),
        ("text\n\n\u{2014} n AAAAAAA=", .noSignatures),
        ("te\tt\n\n\u{2014} n AAAAAAA=\n", .notText),
        ("text\r\n\r\n\u{2014} n AAAAAAA=\r\n", .notText),
        ("te\u{0}t\n\n\u{2014} n AAAAAAA=\n", .notText),
        ("text\n\n- n AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014}n AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014} nAAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014}  AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAAAA= \n", .malformedSignature),
        ("text\n\n\u{2014} n b AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014} n+b AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014} n\u{a0}b AAAAAAA=\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAAAA\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAAA==\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAA_8=\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAAAB=\n", .malformedSignature),
        ("text\n\n\u{2014} n AAAAAAA=\nmore\n", .malformedSignature),
    ])
    func `a malformed note is refused`(note: String, fault: NoteFault) {
        #expect(throws: fault) { try SignedNote(parsing: note) }
    }

    @Test func `invalid UTF-8 and oversized notes are refused`() {
        let note = Array("text\n\n\u{2014} n AAAAAAA=\n".utf8)
        #expect(throws: Never.self) { _ = try SignedNote(parsing: note) }
        #expect(throws: NoteFault.notText) { try SignedNote(parsing: [0xC3] + note) }
        #expect(throws: NoteFault.notText) { try SignedNote(parsing: [0xED, 0xA0, 0x80] + note) }
        #expect(throws: NoteFault.tooLong) {
            try SignedNote(parsing: [UInt8](repeating: 0x61, count: 1 << 20) + note)
        }
    }

    @Test func `the last empty line ends the text`() throws {
        let note = try SignedNote(parsing: "one\n\ntwo\n\n\u{2014} n AAAAAAA=\n")
        #expect(note.text == "one\n\ntwo\n")
        #expect(Checkpoint(text: note.text) == nil)
    }

    @Test(arguments: ["log", "log.example/a/b", "ümlaut", "a-b_c~d", "日本"])
    func `names that a note can carry are accepted`(name: String) {
        #expect(NoteKeyName(name)?.description == name)
    }

    @Test(arguments: ["", "a b", "a+b", "a\tb", "a\nb", "a\u{85}b", "a\u{2003}b", "a\u{1}b"])
    func `names that a note can't carry are refused`(name: String) {
        #expect(NoteKeyName(name) == nil)
    }

    @Test func `names that only look alike are different`() throws {
        let composed = try #require(NoteKeyName("\u{e9}"))
        let decomposed = try #require(NoteKeyName("e\u{301}"))
        #expect(composed != decomposed)
    }

    @Test func `a verifier key is read back, and a changed one is refused`() throws {
        let vkey = log.verifier.vkey
        #expect(NoteVerifier(vkey)?.vkey == vkey)
        #expect(NoteVerifier(vkey)?.publicKey.bytes == log.verifier.publicKey.bytes)
        #expect(NoteVerifier("x" + vkey) == nil)
        #expect(NoteVerifier(vkey + "=") == nil)
        #expect(NoteVerifier(String(vkey.dropLast())) == nil)
        #expect(NoteVerifier("") == nil)
        #expect(NoteVerifier("++") == nil)
        #expect(NoteVerifier("log+00000000+AQ==") == nil)
        let parts = vkey.split(separator: "+", maxSplits: 2).map(String.init)
        #expect(NoteVerifier("\(parts[0])+00000000+\(parts[2])") == nil)
        #expect(NoteVerifier("\(parts[0])+0\(parts[1])+\(parts[2])") == nil)
    }

    private static let root = TreeHash.emptyRoot.description

    @Test(arguments: [
        "", "\n", "o\n", "o\n1\n", "o\n1\n\(root)", "\n1\n\(root)\n", "o\n\n1\n\(root)\n",
        "o\n1\n\(root)\n\n", "o\n1\n\(root)\n\nmore\n", "o o\n1\n\(root)\n", "o+\n1\n\(root)\n",
        "o\n01\n\(root)\n", "o\n+1\n\(root)\n", "o\n-1\n\(root)\n", "o\n 1\n\(root)\n",
        "o\n1 \n\(root)\n", "o\n1.0\n\(root)\n", "o\n٣\n\(root)\n", "o\n\n\(root)\n",
        "o\n9223372036854775808\n\(root)\n", "o\n1\nAAAA\n", "o\n1\n\(root)=\n", "o\n1\n\(root) \n",
        "o\n0\nXcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=\n",
    ])
    func `a malformed checkpoint is refused`(text: String) {
        #expect(Checkpoint(text: text) == nil)
    }

    @Test func `a checkpoint of an empty tree and one with more lines are read`() throws {
        let empty = try #require(Checkpoint(text: "o\n0\n\(Self.root)\n"))
        #expect(empty.size == 0)
        let extended = try #require(Checkpoint(text: "o\n7\n\(Self.root)\nmore\nlines\n"))
        #expect(extended.extensions == ["more", "lines"])
        #expect(extended.text == "o\n7\n\(Self.root)\nmore\nlines\n")
        #expect(Checkpoint(text: "o\n\(Int64.max)\n\(Self.root)\n")?.size == .max)
    }
}
