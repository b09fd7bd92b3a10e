import Testing

@testable import Cryptography
@testable import Encodings

/// AES-256-GCM against the vectors of McGrew and Viega that NIST validated, and its refusals.
@Suite struct EncryptionTests {
    /// One published case; everything in hexadecimal.
    struct Vector: Sendable {
        let key: String
        let nonce: String
        let plaintext: String
        let additional: String
        let sealed: String
    }

    static let vectors = [
        Vector(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plaintext: "", additional: "", sealed: "530f8afbc74536b9a963b4f1c4cb738b"),
        Vector(
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plaintext: String(repeating: "00", count: 16), additional: "",
            sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
        Vector(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            additional: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    @Test(arguments: vectors)
    func `sealing makes the published boxes, and opening decrypts them`(
        vector: Vector
    ) throws {
        let keyBytes = try #require(Hex.decode(vector.key))
        let key = try #require(SymmetricKey(bytes: keyBytes))
        let nonce = try #require(Hex.decode(vector.nonce))
        let plaintext = try #require(Hex.decode(vector.plaintext))
        let additional = try #require(Hex.decode(vector.additional))
        let box = AESGCM.seal(plaintext, key: key, additional: additional, nonce: nonce)
        #expect(Hex.encode(box) == vector.nonce + vector.sealed)
        #expect(AESGCM.open(box, key: key, additional: additional) == plaintext)
    }

    @Test func `boxes sealed one after the other are those of their own keys`() {
        let sealer = AESGCMSealer()
        let keys = [SymmetricKey.generate(), .generate()]
        var nonces: Set<[UInt8]> = []
        for (index, turn) in [0, 0, 1, 0, 1, 1, 0].enumerated() {
            let plaintext = [UInt8](repeating: UInt8(index), count: 40 * index)
            let additional = [UInt8](repeating: 7, count: index / 2)
            let box = sealer.seal(plaintext, key: keys[turn], additional: additional)
            let nonce = Array(box.prefix(AESGCM.nonceByteCount))
            nonces.insert(nonce)
            let alone = AESGCM.seal(
                plaintext, key: keys[turn], additional: additional, nonce: nonce)
            #expect(box == alone, "box \(index)")
            #expect(AESGCM.open(box, key: keys[1 - turn], additional: additional) == nil)
        }
        #expect(nonces.count == 7)
    }

    @Test func `a box with any bit changed does not open`() {
        let key = SymmetricKey.generate()
        let box = AESGCM.seal([1, 2, 3], key: key, additional: [9])
        for index in box.indices {
            var changed = box
            changed[index] ^= 0x01
            #expect(AESGCM.open(changed, key: key, additional: [9]) == nil, "byte \(index)")
        }
    }

    @Test func `a box opens only with its key, its additional bytes and its full length`() {
        let key = SymmetricKey.generate()
        let box = AESGCM.seal([1, 2, 3], key: key, additional: [9])
        #expect(AESGCM.open(box, key: key, additional: [9]) == [1, 2, 3])
        #expect(AESGCM.open(box, key: .generate(), additional: [9]) == nil)
        #expect(AESGCM.open(box, key: key, additional: []) == nil)
        for count in 0..<box.count {
            #expect(AESGCM.open(Array(box.prefix(count)), key: key, additional: [9]) == nil)
        }
    }

    @Test func `sealing twice gives different boxes`() {
        let key = SymmetricKey.generate()
        #expect(
            AESGCM.seal([1], key: key, additional: []) != AESGCM.seal([1], key: key, additional: [])
        )
    }

    @Test func `wiped bytes are copies, with a NUL where one is added, or random`() {
        func copy(_ bytes: WipedBytes) -> [UInt8] { unsafe bytes.withBytes { unsafe Array($0) } }
        #expect(copy(WipedBytes([1, 2, 3])) == [1, 2, 3])
        #expect(copy(WipedBytes(addingNULTo: [1, 2, 3].prefix(2))) == [1, 2, 0])
        #expect(copy(WipedBytes(addingNULTo: [])) == [0])
        #expect(copy(.random(20)).count == 20 && copy(.random(20)) != copy(.random(20)))
    }

    @Test func `a key has 32 bytes and shows none of them`() throws {
        #expect(SymmetricKey(bytes: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(SymmetricKey(bytes: [UInt8](repeating: 1, count: 33)) == nil)
        let bytes = [UInt8](repeating: 171, count: 32)
        let key = try #require(SymmetricKey(bytes: bytes))
        #expect(key.copiedBytes() == bytes)
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("171") && !text.lowercased().contains("ab, "))
        }
    }
}
