import Testing

@testable import Cryptography
@testable import Encodings

/// The entries of a published key set that are used, and the choice of a token's key.
@Suite struct KeySetTests {
    private static let rsa = RSASigningKey.generate()
    private static let ec = TokenSigningKey.generate()

    private func keySet(_ entries: String...) -> KeySet? {
        KeySet(jwks: Array(#"{"keys":[\#(entries.joined(separator: ","))]}"#.utf8))
    }

    /// A public JWK with the given further members and no `kid`, `alg` or `use` of its own.
    private func jwk(_ parameters: JWKParameters, _ members: String = "") -> String {
        let comma = members.isEmpty ? "" : ","
        return "{" + members + comma + parameters.canonicalJSON.dropFirst()
    }

    private var ecParameters: JWKParameters { Self.ec.verificationKey.parameters }
    private var rsaParameters: JWKParameters { Self.rsa.verificationKey.parameters }

    @Test func `keys are found by their identifier`() throws {
        let keys = try #require(keySet(Self.rsa.publicJWK, Self.ec.publicJWK))
        #expect(keys.key(id: Self.rsa.keyID)?.thumbprint == Self.rsa.keyID)
        #expect(keys.key(id: Self.ec.keyID)?.thumbprint == Self.ec.keyID)
        #expect(keys.key(id: "other") == nil)
        #expect(keys.key(id: "") == nil)
        #expect(keys.contains(id: Self.ec.keyID) && !keys.contains(id: "other"))
    }

    @Test func `without an identifier only a lone key is found`() throws {
        let one = try #require(keySet(Self.ec.publicJWK))
        #expect(one.key(id: nil)?.keyID == Self.ec.keyID)
        let two = try #require(keySet(Self.rsa.publicJWK, Self.ec.publicJWK))
        #expect(two.key(id: nil) == nil)
        #expect(two.key(id: nil, for: .es256)?.keyID == Self.ec.keyID)
        #expect(two.key(id: nil, for: .rs256)?.keyID == Self.rsa.keyID)
    }

    @Test func `keys of two types may share an identifier, keys of one type may not`() throws {
        let shared = try #require(
            keySet(jwk(rsaParameters, #""kid":"k""#), jwk(ecParameters, #""kid":"k""#)))
        #expect(shared.key(id: "k") == nil)
        #expect(shared.key(id: "k", for: .es256)?.thumbprint == Self.ec.keyID)
        let other = TokenSigningKey.generate().verificationKey.parameters
        let clash = try #require(
            keySet(jwk(other, #""kid":"k""#), jwk(ecParameters, #""kid":"k""#)))
        #expect(clash.key(id: "k", for: .es256) == nil)
        let twice = try #require(
            keySet(jwk(ecParameters, #""kid":"k""#), jwk(ecParameters, #""kid":"k""#)))
        #expect(twice.key(id: "k")?.thumbprint == Self.ec.keyID)
    }

    @Test func `keys with other uses are skipped`() throws {
        let skipped = [
            #""use":"enc""#, #""use":5"#, #""alg":"RSA-OAEP""#, #""alg":"none""#,
            #""key_ops":["sign"]"#, #""key_ops":"verify""#, #""alg":7"#,
        ]
        for members in skipped {
            let keys = try #require(keySet(jwk(ecParameters, members)))
            #expect(keys.isEmpty, "\(members)")
        }
        let kept = [#""use":"sig""#, #""alg":"ES256""#, #""key_ops":["verify"]"#, #""x5t":"a""#]
        for members in kept {
            let keys = try #require(keySet(jwk(ecParameters, members)))
            #expect(!keys.isEmpty, "\(members)")
        }
    }

    @Test func `a key that names its algorithm is used for no other`() throws {
        let keys = try #require(keySet(jwk(rsaParameters, #""alg":"RS512","kid":"k""#)))
        #expect(keys.key(id: "k", for: .rs512) != nil)
        #expect(keys.key(id: "k", for: .rs256) == nil)
    }

    @Test func `foreign, weak and broken keys are skipped beside a good one`() throws {
        let short = Base64URL.encode([0xC0] + [UInt8](repeating: 1, count: 127))
        let even = Base64URL.encode([0xC0] + [UInt8](repeating: 2, count: 255))
        let modulus = Base64URL.encode([0xC0] + [UInt8](repeating: 1, count: 255))
        let zeros = Base64URL.encode([UInt8](repeating: 0, count: 32))
        let skipped = [
            #"{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}"#,
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            #"{"kty":"RSA","e":"AQAB","n":"\#(short)"}"#,
            #"{"kty":"RSA","e":"AQAB","n":"\#(even)"}"#,
            #"{"kty":"RSA","e":"AQ","n":"\#(modulus)"}"#,
            #"{"kty":"RSA","e":"Ag","n":"\#(modulus)"}"#,
            #"{"kty":"RSA","e":"","n":"\#(modulus)"}"#,
            #"{"kty":"RSA","e":"AQAB","n":"\#(modulus)="}"#,
            #"{"kty":"RSA","e":"AQAB"}"#,
            // Not a point of the curve.
            #"{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}"#,
            #"{"kty":"EC","crv":"P-384","x":"\#(zeros)","y":"\#(zeros)"}"#,
            "5", "null", "{}",
        ]
        let good = Self.ec.publicJWK
        for entry in skipped {
            let keys = try #require(keySet(entry, good))
            #expect(keys.key(id: nil)?.keyID == Self.ec.keyID, "\(entry)")
        }
    }

    @Test func `a document that is no key set is refused`() {
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]"#, #"{"keys":[],"keys":[]}"#] {
            #expect(KeySet(jwks: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(keySet()?.isEmpty == true)
    }

    @Test func `the numbers of keys and of bytes are bounded`() {
        func document(_ count: Int) -> [UInt8] {
            let entries = [String](repeating: "{}", count: count).joined(separator: ",")
            return Array(#"{"keys":[\#(entries)]}"#.utf8)
        }
        #expect(KeySet(jwks: document(64)) != nil)
        #expect(KeySet(jwks: document(65)) == nil)
        let empty = Array(#"{"keys":[]}"#.utf8)
        let room = KeySet.documentBytesMax - empty.count
        #expect(KeySet(jwks: empty + [UInt8](repeating: 0x20, count: room)) != nil)
        #expect(KeySet(jwks: empty + [UInt8](repeating: 0x20, count: room + 1)) == nil)
    }
}
