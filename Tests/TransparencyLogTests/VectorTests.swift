import Cryptography
import Encodings
import Testing
import TransparencyLog

/// Published test vectors, compared exactly.
@Suite struct VectorTests {
    /// The first eight leaves of Certificate Transparency's tests.
    static let entries = [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    ].compactMap { Hex.decode($0) }
    static let tree = ReferenceTree(entries.map { .leaf($0) })
    static let origin = "ledger.example.com/accounts/prod"
    static let logKey = "\(origin)+8c78cf65+AZsfhHkc/HZjBFhU04netcqVRJ2HXydqg4QLBgqznPxx"
    static let text = """
        \(origin)
        8
        XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

        """
    static let note = """
        \(text)
        — \(origin) jHjPZRWHM8wBqYNf9IMPlWG6prg3p9MA29PBeyVvXS8687TBRFq06mwSAfpd3AVTZ6s+zSj1N8qBhuSNEpdkhWLSdgY=
        — witness.example.org/w1 cY4TTgAAAABqsTuAVI629fu0sPyrELZ8tNUZqaGM/BuNoENVEEcNoM6DqF56HboNB0oX9uyrWdzY24Xp1jZYzqqfwztG++EdzojPBg==

        """

    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a98"), (2, "fac54203e7cc696c"), (3, "aeb6bcfe274b70a1"),
        (4, "d37ee418976dd957"), (5, "4e3bbb1f7b478dcf"), (6, "76e67dadbcdf1e10"),
        (7, "ddb89be403809e32"),
        (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
    ])
    func `roots are those of Certificate Transparency`(size: Int, root: String) {
        var range = CompactRange()
        for entry in Self.entries.prefix(size) {
            range.append(.leaf(entry))
        }
        #expect(Hex.encode(range.root.bytes).hasPrefix(root))
    }

    @Test func `the proofs of a leaf and of an extension are the published ones`() throws {
        let stored = Self.tree.stored()
        let inclusion = try InclusionProof.nodes(position: 5, size: 8)
        #expect(
            inclusion.path(inclusion.indexes.map { stored[Int($0)] }).map(beginning)
                == ["bc1a0643", "ca854ea1", "d37ee418"])
        let consistency = try ConsistencyProof.nodes(old: 6, size: 8)
        #expect(
            consistency.path(consistency.indexes.map { stored[Int($0)] }).map(beginning)
                == ["0ebc5d34", "ca854ea1", "d37ee418"])
    }

    @Test func `stored hashes have the indexes of Go's log`() {
        #expect(StoredHashIndex.index(level: 0, of: 0) == 0)
        #expect(StoredHashIndex.index(level: 0, of: 1) == 1)
        #expect(StoredHashIndex.index(level: 1, of: 0) == 2)
        #expect(StoredHashIndex.index(level: 0, of: 2) == 3)
        #expect(StoredHashIndex.index(level: 0, of: 3) == 4)
        #expect(StoredHashIndex.index(level: 1, of: 1) == 5)
        #expect(StoredHashIndex.index(level: 2, of: 0) == 6)
        #expect(
            (0...8).map { StoredHashIndex.count(leaves: $0) } == [0, 1, 3, 4, 7, 8, 10, 11, 15])
        #expect(StoredHashIndex.edge(leaves: 7) == [6, 9, 10])
    }

    @Test func `keys of the vector have the vector's names and ids`() throws {
        #expect(try signer("log", Self.origin).verifier.vkey == Self.logKey)
        // The witness's own key, with the type of a note key instead of a cosignature key.
        let witness = try signer("wit", "witness.example.org/w1").verifier
        #expect(
            witness.vkey.hasSuffix("+" + Base64.encode([1] + witness.publicKey.bytes)))
        #expect(
            Base64.encode([4] + witness.publicKey.bytes)
                == "BHun0VNAaOinILs4fYx9M8U2nh2Uos9enWj6iwn0agfE")
    }

    @Test func `signing reproduces the checkpoint of the vector`() throws {
        let signer = try signer("log", Self.origin)
        let checkpoint = Checkpoint(
            origin: signer.verifier.name, size: 8, root: Self.tree.root(8))
        #expect(checkpoint.text == Self.text)
        let lines = Self.note.split(separator: "\n", omittingEmptySubsequences: false)
        let withoutWitness = lines[..<5].joined(separator: "\n") + "\n"
        #expect(checkpoint.signed(by: [signer]).description == withoutWitness)
    }

    @Test func `the checkpoint of the vector opens, its cosignature ignored as unknown`() throws {
        let verifier = try #require(NoteVerifier(Self.logKey))
        let note = try SignedNote(parsing: Self.note)
        #expect(note.description == Self.note)
        #expect(note.signatures.map(\.keyID) == [0x8c78_cf65, 0x718e_134e])
        #expect(try note.verify([verifier]).map(\.vkey) == [Self.logKey])
        let checkpoint = try Checkpoint.open(note, [verifier])
        #expect(checkpoint.origin.description == Self.origin)
        #expect(checkpoint.size == 8)
        #expect(checkpoint.root == Self.tree.root(8))
    }

    @Test func `a cosignature key is not a note key`() {
        #expect(
            NoteVerifier(
                "witness.example.org/w1+718e134e+BHun0VNAaOinILs4fYx9M8U2nh2Uos9enWj6iwn0agfE")
                == nil)
    }

    private func signer(_ seed: String, _ name: String) throws -> NoteSigner {
        let key = try #require(Ed25519PrivateKey(seed: SHA256.hash(seed)))
        return NoteSigner(name: try #require(NoteKeyName(name)), privateKey: key)
    }

    private func beginning(_ hash: TreeHash) -> String {
        String(Hex.encode(hash.bytes).prefix(8))
    }
}
