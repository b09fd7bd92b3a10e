import Encodings
import Testing

@testable import Cryptography

/// PBKDF2 and scrypt against published vectors.
@Suite struct KeyDerivationTests {
    @Test(arguments: [
        // RFC 6070, RFC 7914 section 11, and the former's input with SHA-512.
        (PBKDF2.Digest.sha1, "password", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
        (
            .sha256, "passwd", 1,
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
                + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
        ),
        (
            .sha512, "password", 1,
            "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
                + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"
        ),
    ])
    func `PBKDF2 derives the published bytes`(
        digest: PBKDF2.Digest, password: String, iterations: Int, expected: String
    ) {
        let derived = PBKDF2.derive(
            WipedBytes(password.utf8), salt: Array("salt".utf8), iterations: iterations,
            digest: digest, count: expected.utf8.count / 2)
        #expect(Hex.encode(derived) == expected)
    }

    @Test(arguments: [
        // RFC 7914 section 12.
        (
            "", "", Scrypt.Parameters(logN: 4, r: 1, p: 1),
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
        ),
        (
            "password", "NaCl", Scrypt.Parameters(logN: 10, r: 8, p: 16),
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
        ),
    ])
    func `scrypt derives the published bytes`(
        password: String, salt: String, parameters: Scrypt.Parameters, expected: String
    ) throws {
        let derived = try #require(
            Scrypt.derive(
                WipedBytes(password.utf8), salt: Array(salt.utf8), parameters: parameters,
                count: 64))
        #expect(Hex.encode(derived) == expected)
    }
}
