import Encodings
import Testing

@testable import Cryptography

/// Keys derived by HKDF, RFC 5869.
@Suite struct DerivedKeyTests {
    @Test func `the first block is that of the RFC's vector without salt`() {
        let secret = [UInt8](repeating: 0x0B, count: 22)
        #expect(
            Hex.encode(HKDFSHA256.key(from: secret, info: []))
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
    }

    @Test func `each label has a key of its own`() {
        let secret = SymmetricKey.generate()
        let keys = ["a", "b", "a"].map { HKDFSHA256.key(from: secret, label: $0).copiedBytes() }
        #expect(keys[0] == keys[2] && keys[0] != keys[1] && keys[0] != secret.copiedBytes())
    }
}
