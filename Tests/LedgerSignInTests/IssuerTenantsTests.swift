import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

/// A provider whose issuer has tenants, such as Microsoft, from its section of the providers file to a proof, with
/// a key set that is fetched.
struct IssuerTenantsTests {
    private static let now = Timestamp(seconds: 1_790_000_000)
    private static let company = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let ada = "11111111-2222-3333-4444-555555555555"

    private func prove(
        _ tenant: String, _ claims: [String: String?] = [:], among tenants: String = ""
    ) async throws -> Proof {
        let issuer = TestIdentityProvider("microsoft")
        try issuer.listen()
        let file = """
            {"providers":[{"name":"microsoft","type":"oidc","subject":"tid_oid"\(tenants),
              "issuer":"https://login.microsoftonline.com/{tenantid}/v2.0",
              "jwks_uri":"\(issuer.keySetURL)","audiences":["\(TestIdentityProvider.audience)"]}]}
            """
        let configured = try ProvidersFile.parse(
            Array(file.utf8), policy: TenantPolicy(providers: []))
        let microsoft = try #require(configured[.default]?.providers.values.first)
        let own: [String: String?] = [
            "iss": "\"https://login.microsoftonline.com/\(tenant)/v2.0\"", "tid": "\"\(tenant)\"",
            "oid": "\"\(Self.ada)\"",
        ]
        let token = issuer.token(
            subject: "pairwise", email: "ada@example.org", changes: own.merging(claims) { $1 },
            at: Self.now.seconds)
        let proof: Result<Proof, any Error>
        do {
            proof = .success(
                try await microsoft.prove(
                    .oidc(OIDCBody(idToken: token, nonce: nil)), in: .default, for: .link,
                    at: Self.now))
        } catch {
            proof = .failure(error)
        }
        await issuer.stop()
        return try proof.get()
    }

    @Test(arguments: [company, consumers])
    func `the subject is the tenant's person, and an address is unverified`(
        tenant: String
    ) async throws {
        let proof = try await prove(tenant)
        #expect(proof.subject == subject("microsoft", "\(tenant)/\(Self.ada)"))
        #expect(proof.email == Email("ada@example.org", isVerified: false))
        let verified = try await prove(tenant, ["xms_edov": "true"])
        #expect(verified.email == Email("ada@example.org", isVerified: true))
    }

    @Test func `a token of another tenant proves nothing`() async throws {
        let other: [String: String?] = ["tid": "\"\(Self.consumers)\""]
        await #expect(throws: Credential.Flaw.invalid) { try await prove(Self.company, other) }
        let only = ",\"issuer_tenants\":[\"\(Self.company)\"]"
        _ = try await prove(Self.company, among: only)
        await #expect(throws: Credential.Flaw.invalid) {
            try await prove(Self.consumers, among: only)
        }
    }
}
