import Cryptography
import Encodings
import OpenID
import Testing

/// Tokens that are forged or malformed, apart from their claims.
@Suite struct ForgedTokenTests {
    private var good: String { Issuer.token(Claims()) }

    private func encoded(_ text: String) -> String {
        Base64URL.encode(Array(text.utf8))
    }

    private func parts(_ token: String) -> [String] {
        token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Replaces one part of a good token.
    private func good(_ index: Int, _ part: String) -> String {
        var parts = parts(good)
        parts[index] = part
        return parts.joined(separator: ".")
    }

    /// Signs with the right key under header text that a key object would never write.
    private func signed(header: [String: String]) -> String {
        Issuer.key.sign(header: header, claims: Claims().json)
    }

    @Test func `the token that the others are spoilt copies of is good`() {
        #expect(Issuer.fault(good) == nil)
    }

    @Test(arguments: ["none", "None", "NONE", "nOnE", ""])
    func `a token without signature is refused`(algorithm: String) {
        let header = encoded(#"{"alg":"\#(algorithm)","kid":"\#(Issuer.key.keyID)"}"#)
        for signature in ["", parts(good)[2]] {
            let token = "\(header).\(parts(good)[1]).\(signature)"
            #expect(Issuer.fault(token) == .algorithmNotAllowed)
            let all = Set(SignatureAlgorithm.allCases)
            #expect(
                CompactJWS.verify(token, with: Issuer.key.verificationKey, allowing: all) == nil)
        }
    }

    @Test func `an HMAC made with the public key is refused`() {
        let header = encoded(#"{"alg":"HS256","kid":"\#(Issuer.key.keyID)"}"#)
        let input = "\(header).\(parts(good)[1])"
        let code = HMACSHA256.mac(key: Array(Issuer.key.publicJWK.utf8), Array(input.utf8))
        let token = "\(input).\(Base64URL.encode(code))"
        #expect(
            Issuer.fault(
                token, checker: Issuer.checker(algorithms: Set(SignatureAlgorithm.allCases)))
                == .algorithmNotAllowed)
        let all = Set(SignatureAlgorithm.allCases)
        #expect(CompactJWS.verify(token, with: Issuer.key.verificationKey, allowing: all) == nil)
    }

    @Test func `an algorithm that the policy leaves out is refused`() {
        let token = signed(header: ["alg": "RS512", "kid": Issuer.key.keyID])
        #expect(Issuer.fault(token) == .algorithmNotAllowed)
        #expect(Issuer.fault(token, checker: Issuer.checker(algorithms: [.rs512])) == nil)
    }

    @Test func `an allowed algorithm that does not fit the key is refused`() {
        let header = encoded(#"{"alg":"ES256","kid":"\#(Issuer.key.keyID)"}"#)
        let token = good(0, header)
        let checker = Issuer.checker(algorithms: [.rs256, .es256])
        #expect(Issuer.fault(token, checker: checker) == .unknownKey)
    }

    @Test func `another key under the right name is refused`() {
        let other = RSASigningKey.generate()
        let token = other.sign(header: ["kid": Issuer.key.keyID], claims: Claims().json)
        #expect(Issuer.fault(token) == .badSignature)
    }

    @Test func `a key that the set lacks is refused`() {
        #expect(Issuer.fault(signed(header: ["kid": "other"])) == .unknownKey)
        #expect(Issuer.fault(signed(header: ["kid": ""])) == .unknownKey)
        #expect(Issuer.fault(good, keys: KeySet([])) == .unknownKey)
    }

    @Test func `a token without a key name is good with a lone key only`() {
        #expect(Issuer.fault(signed(header: [:])) == nil)
        let two = KeySet([
            Issuer.key.verificationKey, RSASigningKey.generate().verificationKey,
        ])
        #expect(Issuer.fault(signed(header: [:]), keys: two) == .unknownKey)
    }

    @Test func `a changed payload is refused`() {
        let other = Base64URL.encode(Claims().with("sub", #""subject-2""#).json)
        #expect(Issuer.fault(good(1, other)) == .badSignature)
    }

    @Test func `a changed header is refused`() {
        let other = encoded(#"{"alg":"RS256","kid":"\#(Issuer.key.keyID)","typ":"jwt"}"#)
        #expect(Issuer.fault(good(0, other)) == .badSignature)
    }

    @Test func `a signature that is cut, long, empty or changed is refused`() throws {
        let signature = try #require(Base64URL.decode(parts(good)[2]))
        var flipped = signature
        flipped[100] ^= 1
        for bytes in [Array(signature.dropLast()), signature + [0], [0] + signature, [], flipped] {
            #expect(Issuer.fault(good(2, Base64URL.encode(bytes))) == .badSignature)
        }
    }

    @Test func `a token with other than three parts is malformed`() {
        for token in [
            "", ".", "..", "...", good + ".", good + "." + parts(good)[1], "." + good,
            parts(good).dropLast().joined(separator: "."), String(good.dropFirst(60)),
        ] {
            #expect(Issuer.fault(token) == .malformed, "\(token.prefix(20))")
        }
    }

    @Test func `padding, other alphabets and stray characters are malformed`() {
        for index in 0..<3 {
            for stray in ["=", "==", "+", "/", " ", "\n", "\0", "é"] {
                #expect(Issuer.fault(good(index, parts(good)[index] + stray)) == .malformed)
            }
        }
        #expect(Issuer.fault(" " + good) == .malformed)
        #expect(Issuer.fault(good + "\n") == .malformed)
    }

    @Test func `a token of more than 16 KiB is malformed`() {
        let room = String(repeating: "A", count: 16_384 - good.utf8.count)
        // Four characters more at a time keep the signature canonical.
        let fitting = good + room.dropLast(room.count % 4)
        #expect(Issuer.fault(fitting) == .badSignature)
        #expect(Issuer.fault(fitting + "AAAA") == .malformed)
    }

    @Test(arguments: [
        #"{"alg":"RS256","crit":["exp"],"exp":1}"#, #"{"alg":"RS256","crit":[]}"#,
        #"{"alg":"RS256","alg":"RS256"}"#, #"{"alg":"RS256","kid":"a","kid":"b"}"#,
        #"{"alg":["RS256"]}"#, #"{"alg":null}"#, #"{"kid":"a"}"#, "{}", "[]", "null", "",
        #"{"alg":"RS256","kid":5}"#, #"{"alg":"RS256","kid":null}"#, #"{"alg":"RS256","typ":1}"#,
        #"{"alg":"RS256"} x"#, #"{"alg":"RS256","a":"\uD800"}"#,
    ])
    func `a header that breaks a rule is malformed`(header: String) {
        #expect(Issuer.fault(good(0, encoded(header))) == .malformed)
        #expect(CompactJWS.header(of: good(0, encoded(header))) == nil)
    }

    @Test(arguments: [
        "at+jwt", "AT+JWT", "application/at+jwt", "logout+jwt", "secevent+jwt", "\u{600}+jwt",
    ])
    func `a token of another kind is refused even when it is well signed`(type: String) {
        let token = signed(header: ["kid": Issuer.key.keyID, "typ": type])
        #expect(Issuer.fault(token) == .wrongType)
    }

    @Test(arguments: [
        "", "[]", "null", "5", #""a""#, "{", #"{"a":1}{}"#, #"{"a":"\uDC00"}"#, #"{"n":1e}"#,
        #"{"a":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}"#,
    ])
    func `a well signed payload that is no JSON object is malformed`(payload: String) {
        // An empty payload can't be signed, so a blank stands for it.
        let claims = payload.isEmpty ? [0x20] : Array(payload.utf8)
        let token = Issuer.key.sign(header: ["kid": Issuer.key.keyID], claims: claims)
        #expect(Issuer.fault(token) == .malformed)
    }

    @Test(arguments: ["iss", "aud", "sub", "exp", "iat"])
    func `a payload with two members of one name is malformed`(name: String) {
        #expect(Issuer.fault(Issuer.token(Claims().adding(name, #""x""#))) == .malformed)
    }
}
