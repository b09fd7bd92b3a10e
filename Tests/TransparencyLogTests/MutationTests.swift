import Cryptography
import Encodings
import Testing
import TransparencyLog

/// Modified proofs are refused: each kind of change has a name.
@Suite struct MutationTests {
    /// A valid input of each verifier: in a tree of 13 leaves the one at 9, and its extension of a
    /// tree of 6.
    struct Claim {
        var entry: [UInt8]
        var position: Int64
        var size: Int64
        var root: TreeHash
        var path: [TreeHash]
        var old: Int64
        var oldRoot: TreeHash
        var continuation: [TreeHash]
        var note: String
        var proof: String
        var vkey: String

        init(_ signer: NoteSigner) throws {
            let tree = ReferenceTree(size: 13)
            entry = Array("entry 9".utf8)
            (position, size, old) = (9, 13, 6)
            (root, oldRoot) = (tree.root(13), tree.root(6))
            path = tree.inclusion(9, 13)
            continuation = tree.consistency(6, 13)
            let signed = Checkpoint(origin: signer.verifier.name, size: 13, root: root)
                .signed(by: [signer])
            note = signed.description
            proof =
                TLogProof(InclusionProof(position: 9, size: 13, path: path), signed).description
            vkey = signer.verifier.vkey
        }

        func verifyInclusion() throws {
            try InclusionProof(position: position, size: size, path: path)
                .verify(leaf: .leaf(entry), root: root)
        }

        func verifyConsistency() throws {
            try ConsistencyProof(old: old, size: size, path: continuation)
                .verify(oldRoot: oldRoot, root: root)
        }

        func openNote() throws {
            let verifier = try #require(NoteVerifier(vkey))
            let checkpoint = try Checkpoint.open(SignedNote(parsing: note), [verifier])
            #expect(checkpoint.size == size && checkpoint.root == root)
        }

        func verifyProof() throws {
            let verifier = try #require(NoteVerifier(vkey))
            try TLogProof(parsing: Array(proof.utf8)).verify(entry: entry, [verifier])
        }
    }

    /// Kinds of change, each to the part of the claim that its list is named after.
    typealias Change = (name: String, change: @Sendable (inout Claim) throws -> Void)

    static let inclusionChanges: [Change] = [
        ("a byte of the entry", { $0.entry[3] ^= 1 }),
        ("an extra byte", { $0.entry.append(0) }),
        ("a node passed off as an entry", { $0.entry = [1] + $0.path[0].bytes + $0.path[1].bytes }),
        ("the next position", { $0.position += 1 }),
        ("the position before", { $0.position -= 1 }),
        ("a position after the end", { $0.position = $0.size }),
        ("a negative position", { $0.position = -1 }),
        ("a size of twice the depth", { $0.size = 26 }),
        ("a smaller size", { $0.size = 9 }),
        ("another root", { $0.root = $0.oldRoot }),
        ("a bit of a sibling", { $0.path[1] = try changed($0.path[1]) }),
        ("a sibling left out", { $0.path.remove(at: 1) }),
        ("a sibling added below", { $0.path.insert(.emptyRoot, at: 0) }),
        ("a sibling added above", { $0.path.append(.emptyRoot) }),
        ("two siblings swapped", { $0.path.swapAt(0, 1) }),
        ("the siblings from the root down", { $0.path.reverse() }),
        ("no siblings", { $0.path = [] }),
        ("sixty-four siblings", { $0.path += Array(repeating: .emptyRoot, count: 64) }),
    ]

    static let consistencyChanges: [Change] = [
        ("another older root", { $0.oldRoot = try changed($0.oldRoot) }),
        ("another newer root", { $0.root = try changed($0.root) }),
        ("the roots swapped", { ($0.root, $0.oldRoot) = ($0.oldRoot, $0.root) }),
        ("an older size one up", { $0.old += 1 }),
        ("an older size one down", { $0.old -= 1 }),
        ("an older size of nothing", { $0.old = 0 }),
        ("an older size that is the size", { $0.old = $0.size }),
        ("an older size above the size", { $0.old = $0.size + 1 }),
        ("a size below nothing", { $0.size = -1 }),
        ("a subtree's bit", { $0.continuation[0] = try changed($0.continuation[0]) }),
        ("the last subtree's bit", { $0.continuation[3] = try changed($0.continuation[3]) }),
        ("a subtree left out", { $0.continuation.removeLast() }),
        ("a subtree added", { $0.continuation.append(.emptyRoot) }),
        ("two subtrees swapped", { $0.continuation.swapAt(0, 2) }),
        ("no subtrees", { $0.continuation = [] }),
    ]

    static let noteChanges: [Change] = [
        ("the origin", { try replace("log.example", "log.exbmple", in: &$0.note) }),
        ("the size", { try replace("\n13\n", "\n14\n", in: &$0.note) }),
        ("the size's spelling", { try replace("\n13\n", "\n013\n", in: &$0.note) }),
        ("the root", { try replace($0.root.description, $0.oldRoot.description, in: &$0.note) }),
        ("a line more", { try replace("=\n\n", "=\nmore\n\n", in: &$0.note) }),
        ("an empty line more", { try replace("=\n\n", "=\n\n\n", in: &$0.note) }),
        ("no empty line", { try replace("=\n\n", "=\n", in: &$0.note) }),
        ("a hyphen for a dash", { try replace("\u{2014}", "-", in: &$0.note) }),
        ("no last newline", { $0.note.removeLast() }),
        (
            "lines of Windows",
            { $0.note = $0.note.split(separator: "\n").joined(separator: "\r\n") }
        ),
        ("a byte of the signature", { try changeSignature(6, in: &$0.note) }),
        ("the key's id", { try changeSignature(2, in: &$0.note) }),
        ("another key of that name", { $0.vkey = try otherKey() }),
        ("the signature of an older note", { try moveSignature(in: &$0) }),
        ("cut short", { $0.note = String($0.note.prefix($0.note.count / 2)) }),
    ]

    static let proofChanges: [Change] = [
        ("the version", { try replace("@v1", "@v2", in: &$0.proof) }),
        ("the position", { try replace("index 9", "index 8", in: &$0.proof) }),
        ("the position's spelling", { try replace("index 9", "index 09", in: &$0.proof) }),
        ("no position", { try replace("index 9\n", "", in: &$0.proof) }),
        ("an extra that is no base64", { try replace("index", "extra ?\nindex", in: &$0.proof) }),
        ("extras twice", { try replace("index", "extra AA==\nextra AA==\nindex", in: &$0.proof) }),
        (
            "a sibling",
            { try replace($0.path[0].description, $0.path[1].description, in: &$0.proof) }
        ),
        ("no siblings", { try dropLines(2..<6, in: &$0.proof) }),
        ("no checkpoint", { $0.proof = String($0.proof.prefix { $0 != "\u{2014}" }) }),
        ("the entry", { $0.entry.reverse() }),
        ("an older checkpoint", { $0.proof = try withOlderCheckpoint($0) }),
    ]

    @Test func `an unchanged claim is accepted`() throws {
        let claim = try Claim(Self.signer())
        try claim.verifyInclusion()
        try claim.verifyConsistency()
        try claim.openNote()
        try claim.verifyProof()
    }

    @Test(arguments: inclusionChanges.indices)
    func `an inclusion proof with a change is refused`(index: Int) throws {
        let claim = try changed(by: Self.inclusionChanges[index])
        #expect(throws: ProofFault.self, "\(Self.inclusionChanges[index].name)") {
            try claim.verifyInclusion()
        }
    }

    @Test(arguments: consistencyChanges.indices)
    func `a consistency proof with a change is refused`(index: Int) throws {
        let claim = try changed(by: Self.consistencyChanges[index])
        #expect(throws: ProofFault.self, "\(Self.consistencyChanges[index].name)") {
            try claim.verifyConsistency()
        }
    }

    @Test(arguments: noteChanges.indices)
    func `a checkpoint's note with a change is refused`(index: Int) throws {
        let claim = try changed(by: Self.noteChanges[index])
        #expect(throws: NoteFault.self, "\(Self.noteChanges[index].name)") { try claim.openNote() }
    }

    @Test(arguments: proofChanges.indices)
    func `a proof file with a change is refused`(index: Int) throws {
        let claim = try changed(by: Self.proofChanges[index])
        #expect("\(Self.proofChanges[index].name)") {
            try claim.verifyProof()
        } throws: { error in
            error is NoteFault || error is TLogProofFault
        }
    }

    @Test func `a proof file with an extra is read, and the extra is not authenticated`() throws {
        var claim = try Claim(Self.signer())
        try Self.replace("index", "extra AQI=\nindex", in: &claim.proof)
        try claim.verifyProof()
        let proof = try TLogProof(parsing: Array(claim.proof.utf8))
        #expect(proof.extra == [1, 2])
        #expect(proof.description == claim.proof)
    }

    @Test func `an invalid line of a proof file does not end its path`() throws {
        let claim = try Claim(Self.signer())
        var lines = claim.proof.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { Array($0) }
        lines[2] = [0x80]
        #expect(throws: NoteFault.malformedProof) {
            try TLogProof(parsing: Array(lines.joined(separator: [UInt8(ascii: "\n")])))
        }
    }

    @Test func `every bit of a proof file counts`() throws {
        let claim = try Claim(Self.signer())
        let verifier = try #require(NoteVerifier(claim.vkey))
        let proof = Array(claim.proof.utf8)
        for index in proof.indices {
            for bit in 0..<8 {
                var changed = proof
                changed[index] ^= 1 << UInt8(bit)
                #expect(throws: (any Error).self, "bit \(bit) of byte \(index)") {
                    try TLogProof(parsing: changed).verify(entry: claim.entry, [verifier])
                }
            }
        }
        for count in 0..<proof.count {
            #expect(throws: (any Error).self, "cut after \(count) bytes") {
                try TLogProof(parsing: Array(proof[..<count]))
                    .verify(entry: claim.entry, [verifier])
            }
        }
    }

    private func changed(by change: Change) throws -> Claim {
        var claim = try Claim(Self.signer())
        try change.change(&claim)
        return claim
    }

    private static func signer(_ seed: String = "log") throws -> NoteSigner {
        let key = try #require(Ed25519PrivateKey(seed: SHA256.hash(seed)))
        return NoteSigner(name: try #require(NoteKeyName("log.example/a")), privateKey: key)
    }

    private static func changed(_ hash: TreeHash) throws -> TreeHash {
        var bytes = hash.bytes
        bytes[31] ^= 1
        return try #require(TreeHash(bytes))
    }

    private static func replace(_ old: String, _ new: String, in text: inout String) throws {
        let range = try #require(text.firstRange(of: old))
        text.replaceSubrange(range, with: new)
    }

    private static func dropLines(_ range: Range<Int>, in text: inout String) throws {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        lines.removeSubrange(range)
        text = lines.joined(separator: "\n")
    }

    /// Changes one byte of the last line's decoded signature; the first four are the key's id.
    private static func changeSignature(_ index: Int, in note: inout String) throws {
        let text = try #require(note.split(separator: " ").last).dropLast()
        var signature = try #require(Base64.decode(text))
        signature[index] ^= 1
        note = note.prefix(note.count - text.count - 1) + Base64.encode(signature) + "\n"
    }

    private static func otherKey() throws -> String {
        try signer("another").verifier.vkey
    }

    private static func moveSignature(in claim: inout Claim) throws {
        let signer = try signer()
        let older = Checkpoint(origin: signer.verifier.name, size: 6, root: claim.oldRoot)
        let signature = older.signed(by: [signer]).description.drop { $0 != "\u{2014}" }
        claim.note = String(claim.note.prefix { $0 != "\u{2014}" }) + signature
    }

    /// Returns the proof for 13 leaves with a checkpoint of 10, which is signed as well.
    private static func withOlderCheckpoint(_ claim: Claim) throws -> String {
        let signer = try signer()
        let older = Checkpoint(
            origin: signer.verifier.name, size: 10, root: ReferenceTree(size: 10).root(10))
        return TLogProof(
            InclusionProof(position: 9, size: 10, path: claim.path), older.signed(by: [signer])
        ).description
    }
}
