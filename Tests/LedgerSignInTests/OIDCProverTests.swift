import Cryptography
import Ledger
import LedgerTestSupport
import OpenID
import Testing

@testable import LedgerSignIn

/// The proofs of ID tokens, for each purpose.
struct OIDCProverTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    private let issuer = TestIdentityProvider("google")

    private func prove(
        _ body: OIDCBody, for purpose: ProofPurpose, nonce: IDTokenPolicy.NonceMode = .raw,
        accepting methods: Set<String> = []
    ) async throws(Credential.Flaw) -> Proof {
        let issuer = issuer
        let check = IDTokenPolicy(
            issuers: [issuer.issuer], audiences: [TestIdentityProvider.audience],
            algorithms: [.rs256], nonce: nonce)
        let keys = KeySetCache(
            url: "\(issuer.issuer)/keys",
            fetch: { _ in FetchedKeySet(body: try issuer.keySet(), maxAgeSeconds: nil) })
        return try await ProviderConfiguration(
            name: provider("google"),
            settings: .oidc(OIDCSettings(check: check, keys: keys, secondFactorMethods: methods))
        ).prove(.oidc(body), in: .default, for: purpose, at: Self.now)
    }

    private func body(
        carrying carried: String? = nil, nonce: String? = nil, issued seconds: Int64 = 0,
        email: String? = nil, claims: [String: String?] = [:]
    ) -> OIDCBody {
        OIDCBody(
            idToken: issuer.token(
                subject: "ada", nonce: carried, email: email, changes: claims,
                at: Self.now.seconds + seconds),
            nonce: nonce)
    }

    @Test func `an ID token proves the subject by its issuer's word`() async throws {
        let plain = try await prove(body(), for: .link)
        #expect(
            plain
                == Proof(
                    subject("google", "ada"), authenticatedAt: Self.now, methods: .federated,
                    email: nil))
        let full = try await prove(
            body(email: "a@example.org", claims: ["auth_time": "1789999000"]), for: .link)
        #expect(full.authenticatedAt == Timestamp(seconds: 1_789_999_000))
        #expect(full.email == Email("a@example.org", isVerified: true))
        let unverified = try await prove(
            body(email: "a@example.org", claims: ["email_verified": nil]), for: .link)
        #expect(unverified.email == Email("a@example.org", isVerified: false))
    }

    @Test(
        arguments: [
            (nil, "fed"), (#"["mfa"]"#, "fed fed_mfa mfa"),
            (#"["pwd","otp"]"#, "fed fed_mfa mfa otp"),
            (#"["otp","x y","mfa","otp"]"#, "fed fed_mfa mfa otp"), (#"["hwk","pwd"]"#, "fed"),
            (#"["MFA","mfa "]"#, "fed"), ("[]", "fed"), ("null", "fed"), (#""mfa""#, "fed"),
            (#"{"mfa":true}"#, "fed"), (#"["mfa",5]"#, "fed"), (#"[["mfa"]]"#, "fed"),
            ("true", "fed"),
        ] as [(String?, String)])
    func `a listed method of the issuer is a second factor, and no other one`(
        amr: String?, expected: String
    ) async throws {
        let body = body(claims: ["amr": amr, "auth_time": "1789999000"])
        let proof = try await prove(body, for: .link, accepting: ["mfa", "otp"])
        #expect(proof.methods.description == expected)
        #expect(proof.methods.includesSecondFactor == (expected != "fed"))
        #expect(try await prove(body, for: .link).methods == .federated)
        // The time of issue is not that of the factor.
        let timeless = self.body(claims: ["amr": amr])
        #expect(
            try await prove(timeless, for: .link, accepting: ["mfa", "otp"]).methods == .federated)
    }

    @Test func `a token proves nothing without the keys of its issuer or with another nonce`()
        async throws
    {
        await #expect(throws: Credential.Flaw.invalid) {
            try await prove(body(carrying: "a", nonce: "b"), for: .link)
        }
        issuer.setDown(true)
        await #expect(throws: Credential.Flaw.unavailable) { try await prove(body(), for: .link) }
    }

    @Test func `a merge takes a token that was made for its plan`() async throws {
        let plan = ProofPurpose.merge(plan: "digest", shownAt: Self.now.adding(seconds: -30))
        _ = try await prove(body(carrying: "digest"), for: plan)
        for other in [body(), body(carrying: "other", nonce: "other")] {
            await #expect(throws: Credential.Flaw.invalid) { try await prove(other, for: plan) }
        }
    }

    @Test func `without nonces a merge takes a token that is newer than its plan`() async throws {
        let plan = ProofPurpose.merge(plan: "digest", shownAt: Self.now.adding(seconds: -30))
        _ = try await prove(body(issued: -29), for: plan, nonce: .none)
        await #expect(throws: Credential.Flaw.invalid) {
            try await prove(body(issued: -30), for: plan, nonce: .none)
        }
        _ = try await prove(body(issued: -30), for: .link, nonce: .none)
        // A plan that was never shown is refused by the merge itself.
        let unknown = ProofPurpose.merge(plan: "digest", shownAt: nil)
        _ = try await prove(body(issued: -30), for: unknown, nonce: .none)
    }

    @Test func `only a sign-in in a tenant that wants it spends the token`() async throws {
        let digests = SingleUseIDTokens(key: .generate())
        let body = body()
        let proof = try await prove(body, for: .signIn(.default, singleUse: digests))
        let spent = try #require(proof.singleUse)
        #expect(
            spent == digests.token(body.idToken, acceptedUntil: spent.expiresAt, in: .default))
        // An hour and the leeway.
        #expect(spent.expiresAt == Self.now.adding(seconds: 3660))
        for purpose in [ProofPurpose.signIn(.default, singleUse: nil), .link] {
            #expect(try await prove(body, for: purpose).singleUse == nil)
        }
    }

    @Test func `a credential is recognised by the digest of its token alone`() {
        let first = CredentialBody.oidc(OIDCBody(idToken: "a", nonce: "1"))
        #expect(first.digest == CredentialBody.oidc(OIDCBody(idToken: "a", nonce: "2")).digest)
        #expect(first.digest.bytes == SHA256.hash("a"))
    }
}
