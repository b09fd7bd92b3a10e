import Testing

@testable import Cryptography
@testable import Encodings
@testable import JSON

/// The ledger's own keys: their signatures, their files and their publication.
@Suite struct SigningKeyTests {
    private static let rsa = RSASigningKey.generate()
    private static let claims = Array(#"{"sub":"a"}"#.utf8)

    @Test func `an access token has exactly the promised header and its claims unchanged`() throws {
        let key = TokenSigningKey.generate()
        let token = key.sign(claims: Self.claims, type: "at+jwt")
        let first = try #require(token.split(separator: ".").first)
        #expect(
            Base64URL.decode(first)
                == Array(#"{"alg":"ES256","kid":"\#(key.keyID)","typ":"at+jwt"}"#.utf8))
        #expect(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [.es256]) == Self.claims)
        #expect(
            CompactJWS.header(of: token)
                == CompactJWS.Header(alg: "ES256", kid: key.keyID, typ: "at+jwt"))
    }

    @Test func `keys whose private number has leading zeros are made and read like others`() {
        // One key in 256 has such a number: in this many, it is practically certain that there is one.
        for _ in 0..<3_000 {
            let key = TokenSigningKey.generate()
            #expect(TokenSigningKey(exported: key.exported())?.keyID == key.keyID)
        }
    }

    @Test func `no id of a new key looks like an option of the command line`() {
        // One thumbprint in 64 begins with a dash: without a check, one of this many would.
        let ids = (0..<2_000).map { _ in TokenSigningKey.generate().keyID }
        #expect(ids.filter { $0.hasPrefix("-") } == [])
    }

    @Test func `no two signatures of the same claims are equal`() {
        let signer = TokenSigningKey.generate().signer(type: "at+jwt")
        #expect(Set((0..<64).map { _ in signer.sign(Self.claims) }).count == 64)
    }

    @Test func `a private number shorter than the curve's order is refused`() throws {
        let key = TokenSigningKey.generate()
        let text = String(decoding: key.exported(), as: UTF8.self)
        let secret = try #require(text.firstMatch(of: /"d":"([^"]+)"/)?.1)
        let bytes = try #require(Base64URL.decode(secret))
        for other in [Array(bytes.dropFirst()), [0] + bytes] {
            let jwk = text.replacing(secret, with: Base64URL.encode(other))
            #expect(jwk != text && TokenSigningKey(exported: Array(jwk.utf8)) == nil)
        }
    }

    @Test func `exported keys come back and check each other's tokens`() throws {
        let ec = TokenSigningKey.generate()
        let ecAgain = try #require(TokenSigningKey(exported: ec.exported()))
        #expect(ecAgain.keyID == ec.keyID)
        let ecToken = ecAgain.sign(claims: Self.claims, type: "JWT")
        #expect(CompactJWS.verify(ecToken, with: ec.verificationKey, allowing: [.es256]) != nil)

        let rsaAgain = try #require(RSASigningKey(exported: Self.rsa.exported()))
        #expect(rsaAgain.keyID == Self.rsa.keyID)
        let rsaToken = rsaAgain.sign(header: [:], claims: Self.claims)
        #expect(
            CompactJWS.verify(rsaToken, with: Self.rsa.verificationKey, allowing: [.rs256]) != nil)
    }

    @Test func `a published key has no private member and checks tokens`() throws {
        let ec = TokenSigningKey.generate()
        for (text, algorithm) in [(ec.publicJWK, "ES256"), (Self.rsa.publicJWK, "RS256")] {
            let members = try #require(JSONValue(parsing: Array(text.utf8))?.members)
            #expect(members["use"] == .string("sig"))
            #expect(members["alg"] == .string(algorithm))
            for name in ["d", "p", "q", "dp", "dq", "qi", "k"] {
                #expect(members[name] == nil)
            }
        }
        let key = try #require(VerificationKey(jwk: Array(ec.publicJWK.utf8)))
        #expect(key.keyID == ec.keyID && key.thumbprint == ec.keyID)
        let token = ec.sign(claims: Self.claims, type: "JWT")
        #expect(CompactJWS.verify(token, with: key, allowing: [.es256]) != nil)
    }

    @Test func `an export without a private part, or with another key's, is refused`() throws {
        let one = TokenSigningKey.generate()
        let other = TokenSigningKey.generate()
        let members = try #require(JSONValue(parsing: one.exported())?.members)
        let otherMembers = try #require(JSONValue(parsing: other.exported())?.members)
        func jwk(d: String?) throws -> [UInt8] {
            let x = try #require(members["x"]?.string)
            let y = try #require(members["y"]?.string)
            let secret = d.map { #","d":"\#($0)""# } ?? ""
            return Array(#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(secret)}"#.utf8)
        }
        #expect(TokenSigningKey(exported: try jwk(d: members["d"]?.string)) != nil)
        #expect(TokenSigningKey(exported: try jwk(d: nil)) == nil)
        #expect(TokenSigningKey(exported: try jwk(d: otherMembers["d"]?.string)) == nil)
        #expect(TokenSigningKey(exported: try jwk(d: "")) == nil)
        #expect(TokenSigningKey(exported: Self.rsa.exported()) == nil)
        #expect(RSASigningKey(exported: one.exported()) == nil)
        #expect(TokenSigningKey(exported: []) == nil)
        #expect(TokenSigningKey(exported: Array("-----BEGIN PRIVATE KEY-----".utf8)) == nil)
    }

    @Test func `an export with a member far too long is refused, whatever its number`() throws {
        let text = String(decoding: Self.rsa.exported(), as: UTF8.self)
        let prime = try #require(text.firstMatch(of: /"q":"([^"]+)"/)?.1)
        // Leading zeros: the number is the same, so that nothing but the length can be refused.
        func key(zeros count: Int) -> RSASigningKey? {
            let longer = text.replacing(prime, with: String(repeating: "A", count: count) + prime)
            return RSASigningKey(exported: Array(longer.utf8))
        }
        #expect(key(zeros: 4) != nil)
        #expect(key(zeros: 400) == nil, "longer than the modulus")
        #expect(key(zeros: 30_000) == nil, "longer than any key")
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi"])
    func `an export with a member that is no base64url is refused`(name: String) throws {
        let text = String(decoding: Self.rsa.exported(), as: UTF8.self)
        for damaged in ["\"AAAAA\"", "\"A+/=\"", "7"] {
            let members = try Regex("\"\(name)\":\"[^\"]+\"")
            let jwk = text.replacing(members, with: "\"\(name)\":\(damaged)")
            #expect(jwk != text && RSASigningKey(exported: Array(jwk.utf8)) == nil, "\(damaged)")
        }
    }

    @Test func `an export whose point is not on the curve is refused`() throws {
        let members = try #require(
            JSONValue(parsing: TokenSigningKey.generate().exported())?.members)
        let x = try #require(members["x"]?.string)
        let secret = try #require(members["d"]?.string)
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)","d":"\#(secret)"}"#
        #expect(TokenSigningKey(exported: Array(jwk.utf8)) == nil)
    }

    @Test func `coordinates and secrets with leading zeros keep their length`() {
        // One key in 128 has a coordinate that begins with a zero byte.
        for _ in 0..<600 {
            guard case .p256(let x, let y) = PrivateKey.generateP256().parameters else {
                Issue.record("not a key on P-256")
                return
            }
            #expect(x.count == 32 && y.count == 32)
        }
    }

    @Test(arguments: [
        SignatureAlgorithm.rs256, .rs384, .rs512, .ps256,
    ])
    func `an RSA key signs with each of its algorithms`(algorithm: SignatureAlgorithm) {
        let key = Self.rsa
        let token = key.sign(
            header: ["alg": algorithm.rawValue, "kid": "any", "typ": "JWT"], claims: Self.claims)
        #expect(
            CompactJWS.header(of: token)
                == CompactJWS.Header(alg: algorithm.rawValue, kid: "any", typ: "JWT"))
        #expect(
            CompactJWS.verify(token, with: key.verificationKey, allowing: [algorithm])
                == Self.claims)
        for other in SignatureAlgorithm.allCases where other != algorithm {
            #expect(CompactJWS.verify(token, with: key.verificationKey, allowing: [other]) == nil)
        }
    }

    @Test func `a PSS signature shorter than the key is refused`() throws {
        let key = Self.rsa
        let token = key.sign(header: ["alg": "PS256"], claims: Self.claims)
        let dot = try #require(token.lastIndex(of: "."))
        let short = token[...dot] + Base64URL.encode([UInt8](repeating: 7, count: 16))
        #expect(
            CompactJWS.verify(String(short), with: key.verificationKey, allowing: [.ps256]) == nil)
    }
}
