import Cryptography
import Encodings
import Testing

/// Digests against published vectors.
@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `SHA-256 gives the digests of FIPS 180-4`(text: String, digest: String) {
        #expect(Hex.encode(SHA256.hash(Array(text.utf8))) == digest)
        #expect(Hex.encode(bytes(of: SHA256.words(of: Array(text.utf8)))) == digest)
    }

    @Test func `parts are digested as if they were joined`() {
        #expect(SHA256.hash([1, 2], [], [3]) == SHA256.hash([1, 2, 3]))
    }

    @Test func `an incremental digest equals a digest of all bytes`() {
        let digest = RunningSHA256()
        for part in [[], [1, 2], [], [3]] as [[UInt8]] {
            digest.update(part)
        }
        #expect(digest.finish() == SHA256.hash([1, 2, 3]))
        #expect(RunningSHA256().finish() == SHA256.hash([UInt8]()))
    }

    @Test func `leaves and nodes have the hashes of a Certificate Transparency log`() {
        let empty = SHA256.leafHash([])
        #expect(
            Hex.encode(empty)
                == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d")
        #expect(
            Hex.encode(SHA256.nodeHash(empty, SHA256.leafHash([0])))
                == "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125")
        #expect(bytes(of: SHA256.leafWords(of: [])) == empty)
        #expect(bytes(of: SHA256.leafWords(of: [0])) == SHA256.leafHash([0]))
    }

    private func bytes(of words: SHA256.Words) -> [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
    }

    /// RFC 4231 sections 4.2 to 4.4, 4.7 and 4.8.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC gives the MACs of RFC 4231`(key: [UInt8], message: [UInt8], mac: String) {
        #expect(Hex.encode(HMACSHA256.mac(key: key, message)) == mac)
    }

    @Test func `a kept key gives the MACs of a key used once, on any thread`() async throws {
        let bytes = SecureRandom.bytes(SymmetricKey.byteCount)
        let key = HMACKey(try #require(SymmetricKey(bytes: bytes)))
        await withTaskGroup { group in
            for length in 0..<400 {
                group.addTask {
                    let message = SecureRandom.bytes(length)
                    let mac = HMACSHA256.mac(key: bytes, message)
                    #expect(key.mac(of: message) == mac)
                    let start = mac.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
                    #expect(key.truncatedMAC(of: message) == start)
                }
            }
        }
    }

    @Test func `an empty key and an empty message have a MAC`() {
        #expect(
            Hex.encode(HMACSHA256.mac(key: [], []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `bytes are equal only when length and contents are`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2], [1, 2]))
        #expect(!constantTimeEqual([1, 2], [1, 3]))
        #expect(!constantTimeEqual([1, 2], [1, 2, 0]))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test func `random bytes have the asked length and don't repeat`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(33).count == 33)
        #expect(Set((0..<100).map { _ in SecureRandom.bytes(16) }).count == 100)
        #expect(Set((0..<100).map { _ in SecureRandom.uint128() }).count == 100)
    }

    @Test func `a supply returns no bytes twice, to any caller`() async {
        let supply = RandomSupply()
        // More than two supplies' worth of each length, and lengths that a supply has not.
        let counts = (0..<400).map { [16, 48, 80, 256, 257, 5000][$0 % 6] }
        let parts = await withTaskGroup { group in
            for count in counts {
                group.addTask { supply.bytes(count) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(parts.map(\.count).sorted() == counts.sorted())
        let words = parts.flatMap { part in
            stride(from: 0, to: part.count - 15, by: 16).map { Array(part[$0..<$0 + 16]) }
        }
        #expect(Set(words).count == words.count)
        #expect(supply.bytes(0).isEmpty)
    }
}
