import Testing

@testable import Cryptography
@testable import JSON
@testable import OpenID

/// Strings with different bytes are different, even if Swift calls them equal.
@Suite struct ExactTextTests {
    /// "café" with one scalar for its last letter.
    private static let composed = "caf\u{E9}"
    /// "café" with a letter and an accent.
    private static let decomposed = "cafe\u{301}"

    private func fault(_ claims: Claims, nonce: String? = nil) -> IDTokenFault? {
        let checker = IDTokenChecker(
            policy: IDTokenPolicy(
                issuers: [Self.composed], audiences: [Self.composed], algorithms: [.rs256],
                nonce: .raw))
        return Issuer.fault(Issuer.token(claims), nonce: nonce, checker: checker)
    }

    private func quoted(_ text: String) -> String {
        "\"\(text)\""
    }

    private var good: Claims {
        Claims().with("iss", quoted(Self.composed)).with("aud", quoted(Self.composed))
    }

    @Test func `the two forms are equal to Swift`() {
        #expect(Self.composed == Self.decomposed)
        #expect(ExactText(Self.composed) != ExactText(Self.decomposed))
        #expect(Set([Self.composed, Self.decomposed].map(ExactText.init)).count == 2)
        #expect(ExactText(Self.composed) == ExactText("caf" + "é"))
    }

    @Test func `claims in the form of the policy are good`() {
        #expect(fault(good) == nil)
        let several = "[\(quoted("other")),\(quoted(Self.composed))]"
        #expect(fault(good.with("aud", several).with("azp", quoted(Self.composed))) == nil)
        #expect(fault(good.with("nonce", quoted(Self.composed)), nonce: Self.composed) == nil)
    }

    @Test func `claims in another form are refused`() {
        let other = quoted(Self.decomposed)
        #expect(fault(good.with("iss", other)) == .wrongIssuer)
        #expect(fault(good.with("aud", other)) == .wrongAudience)
        #expect(fault(good.with("aud", "[\(other)]")) == .wrongAudience)
        let several = "[\(quoted(Self.composed)),\(quoted("other"))]"
        #expect(fault(good.with("aud", several).with("azp", other)) == .wrongAuthorizedParty)
        #expect(fault(good.with("nonce", other), nonce: Self.composed) == .nonceMismatch)
    }

    @Test func `a claim whose name differs in form is another claim`() {
        let both = good.with(Self.composed, "1").with("x" + Self.decomposed, "2")
        #expect(fault(both) == nil)
        #expect(fault(good.adding(Self.composed, "1").adding(Self.decomposed, "2")) == nil)
        #expect(fault(good.adding(Self.composed, "1").adding("caf\\u00e9", "2")) == .malformed)
    }

    @Test func `a key is found by the exact form of its name`() throws {
        let key = TokenSigningKey.generate()
        let jwk = key.publicJWK.replacing(key.keyID, with: Self.composed)
        let keys = try #require(KeySet(jwks: Array(#"{"keys":[\#(jwk)]}"#.utf8)))
        #expect(keys.contains(id: Self.composed))
        #expect(keys.key(id: Self.composed, for: .es256) != nil)
        #expect(!keys.contains(id: Self.decomposed))
        #expect(keys.key(id: Self.decomposed) == nil)
        #expect(keys.key(id: Self.decomposed, for: .es256) == nil)
    }

    @Test func `headers that differ in form only are different`() {
        #expect(
            CompactJWS.Header(alg: "ES256", kid: Self.composed, typ: nil)
                != CompactJWS.Header(alg: "ES256", kid: Self.decomposed, typ: nil))
    }
}
