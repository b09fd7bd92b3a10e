import Cryptography
import Encodings
import Testing

/// Ed25519 against RFC 8032 section 7.1.
@Suite struct Ed25519Tests {
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ])
    func `keys and signatures are those of RFC 8032`(
        seed: String, publicKey: String, message: String, signature: String
    ) throws {
        let key = try #require(Hex.decode(seed).flatMap { Ed25519PrivateKey(seed: $0) })
        let message = try #require(Hex.decode(message))
        #expect(Hex.encode(key.publicKey.bytes) == publicKey)
        #expect(Hex.encode(key.copiedSeed()) == seed)
        #expect(Hex.encode(key.sign(message)) == signature)
        let checker = try #require(Hex.decode(publicKey).flatMap { Ed25519PublicKey(bytes: $0) })
        #expect(checker.verifies(key.sign(message), of: message))
    }

    @Test func `a signature of other bytes, of another key or of another length is refused`() {
        let key = Ed25519PrivateKey.generate()
        let signature = key.sign([1, 2, 3])
        #expect(key.publicKey.verifies(signature, of: [1, 2, 3]))
        #expect(!key.publicKey.verifies(signature, of: [1, 2, 4]))
        #expect(!key.publicKey.verifies(signature, of: []))
        #expect(!key.publicKey.verifies(signature + [0], of: [1, 2, 3]))
        #expect(!key.publicKey.verifies(signature.dropLast(), of: [1, 2, 3]))
        #expect(!key.publicKey.verifies([], of: [1, 2, 3]))
        #expect(!Ed25519PrivateKey.generate().publicKey.verifies(signature, of: [1, 2, 3]))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 0x10
            #expect(!key.publicKey.verifies(changed, of: [1, 2, 3]), "byte \(index)")
        }
    }

    @Test func `keys of other lengths are refused, and no key is printed`() throws {
        #expect(Ed25519PrivateKey(seed: []) == nil)
        #expect(Ed25519PrivateKey(seed: [UInt8](repeating: 1, count: 33)) == nil)
        #expect(Ed25519PublicKey(bytes: [UInt8](repeating: 1, count: 31)) == nil)
        let key = Ed25519PrivateKey.generate()
        #expect("\(key)" == "Ed25519PrivateKey(redacted)")
        #expect(Mirror(reflecting: key).children.isEmpty)
        // No point of the curve has this y: OpenSSL takes the bytes and refuses all signatures.
        let noPoint = try #require(
            Ed25519PublicKey(bytes: [2] + [UInt8](repeating: 0, count: 31)))
        #expect(!noPoint.verifies(key.sign([]), of: []))
    }
}
