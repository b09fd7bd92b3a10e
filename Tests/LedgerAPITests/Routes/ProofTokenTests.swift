import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Proofs that a refused link or a preview gives back.
@Suite(.overBothTransports) struct ProofTokenTests {
    private let service: TestService
    private let ada: Person
    private let bob: Person

    init() async throws {
        service = try TestService()
        ada = try await service.signIn("google", "ada")
        bob = try await service.signIn("apple", "bob")
    }

    /// Bob's link of Ada's identity is refused.
    private func token() async throws -> String {
        let refused = try await service.link("google", subject: "ada", by: bob)
        #expect(refused.summary == "409 PROVIDER_CONFLICT")
        let details = refused.json["error"]?.members?["details"]?.members
        return try #require(details?["proof_token"]?.string)
    }

    private func signIn(
        _ token: String, provider: String = "google", tenant: String = ""
    ) async throws -> Answer {
        try await service.send(
            "POST", "\(tenant)/v1/auth/sign-in/\(provider)", "{\"proof_token\":\"\(token)\"}")
    }

    @Test func `a refused link's proof signs in to the account that has the identity, once`()
        async throws
    {
        let token = try await token()
        let opened = try await signIn(token)
        #expect(opened.status == 200 && opened.text("user_id") == ada.userID, "\(opened.body)")
        #expect(opened.json["is_new_user"] == .bool(false))
        // A client that lost the answer may repeat the request for a minute.
        service.clock.advance(seconds: SingleUseIDToken.retrySeconds)
        #expect(try await signIn(token).summary == "401 INVALID_PROVIDER_TOKEN")
    }

    @Test func `a token is of one provider, one tenant and ten minutes`() async throws {
        let token = try await token()
        #expect(try await signIn(token, provider: "apple").summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(try await signIn(token + "A").summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(try await signIn("x").summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(
            try await signIn(token, provider: "unknown").summary == "400 UNSUPPORTED_PROVIDER")
        service.clock.advance(seconds: ProofTokens.lifetimeSeconds)
        #expect(try await signIn(token).summary == "401 INVALID_PROVIDER_TOKEN")
    }

    @Test func `a token opens no account when the identity has none any more`() async throws {
        let token = try await token()
        let path = "/v1/accounts/\(ada.userID)"
        let erased = try await service.send(
            "DELETE", path, token: try service.audit.key(.admin),
            headers: [("Ledger-Reason", "case 1")])
        #expect(erased.status == 200, "\(erased.body)")
        #expect(try await signIn(token).summary == "404 ACCOUNT_NOT_FOUND")
    }

    @Test func `a token previews a merge, and merges nothing`() async throws {
        let token = try await token()
        let plan = try await service.send(
            "POST", "/v1/account/merge/preview",
            "{\"provider\":\"google\",\"proof_token\":\"\(token)\"}", token: bob.accessToken)
        #expect(plan.status == 200, "\(plan.body)")
        #expect(plan.text("proof_token") != nil)
        let digest = try #require(plan.text("plan_digest"))
        let merge = try await service.send(
            "POST", "/v1/account/merge",
            "{\"provider\":\"google\",\"plan_digest\":\"\(digest)\",\"proof_token\":\"\(token)\"}",
            token: bob.accessToken)
        #expect(merge.summary == "400 INVALID_REQUEST", "\(merge.body)")
    }

    @Test func `a token of an identity without an account opens none`() async throws {
        // Bob has an identity of the provider already.
        _ = try await service.link("google", subject: "bob-g", by: bob)
        let refused = try await service.link("google", subject: "nobody", by: bob)
        let details = refused.json["error"]?.members?["details"]?.members
        let token = try #require(details?["proof_token"]?.string)
        #expect(try await signIn(token).summary == "404 ACCOUNT_NOT_FOUND")
    }
}
