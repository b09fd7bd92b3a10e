import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

@testable import LedgerSignIn

/// The proof of a browser flow whose link was refused, because another account has the identity.
@Suite(.overBothTransports) struct RefusedLinkTests {
    private static let verifier = String(repeating: "v", count: 43)
    private static let refused = "401 INVALID_PROVIDER_TOKEN"

    /// Ada has an identity at Google, and Bob wants to link it.
    private struct Story {
        let service: TestService
        let ada: Person
        let bob: Person

        init() async throws {
            service = try TestService { $0.tenants = [.default, tenant("acme")] }
            ada = try await service.signIn("google", "ada")
            bob = try await service.signIn("apple", "bob")
        }

        /// Returns the code of a flow that Bob has begun for a link.
        func code(_ name: String = "google", as person: String = "ada") throws -> String {
            let now = service.clock.now
            let claims = try #require(
                service.accessTokens.check(bob.accessToken, for: .default, at: now))
            let flow = BrowserFlow(
                use: .link(claims.caller), provider: provider(name), returnTo: "",
                challenge: FlowBody.challenge(of: RefusedLinkTests.verifier))
            let proof = Proof(
                subject(name, person), authenticatedAt: now, methods: .federated, email: nil)
            return service.services.flows.code(flow, proof, in: .default, at: now)
        }

        private func post(
            _ path: String, _ code: String, _ rest: String = "", by person: Person? = nil,
            key: String? = nil, verifier: String = RefusedLinkTests.verifier
        ) async throws -> Answer {
            try await service.send(
                "POST", path,
                "{\"flow_code\":\"\(code)\",\"code_verifier\":\"\(verifier)\"\(rest)}",
                token: person?.accessToken, headers: key.map { [("Idempotency-Key", $0)] } ?? [])
        }

        func link(
            _ code: String, at name: String = "google", key: String? = nil
        ) async throws -> Answer {
            try await post("/v1/auth/link/\(name)", code, by: bob, key: key)
        }

        func signIn(
            _ token: String, tenant: String = "", verifier: String = RefusedLinkTests.verifier
        ) async throws -> Answer {
            try await post(
                "\(tenant)/v1/auth/sign-in/google", token, ",\"create_account\":false",
                verifier: verifier)
        }

        func preview(_ token: String, by person: Person? = nil) async throws -> Answer {
            try await post(
                "/v1/account/merge/preview", token, ",\"provider\":\"google\"", by: person ?? bob)
        }

        func merge(_ token: String, plan: String) async throws -> Answer {
            try await post(
                "/v1/account/merge", token,
                ",\"provider\":\"google\",\"plan_digest\":\"\(plan)\"", by: bob)
        }

        /// Links by a code, which is refused, and returns the token that takes its place.
        func token(_ code: String) async throws -> String {
            let answer = try await link(code)
            #expect(answer.summary == "409 PROVIDER_CONFLICT")
            return try #require(answer.detail("proof_token")?.string, "\(answer.body)")
        }
    }

    @Test
    func `the proof of a refused link shows the merge after its code's end, and signs in once`()
        async throws
    {
        let story = try await Story()
        let code = try story.code()
        let token = try await story.token(code)
        story.service.clock.advance(seconds: 599)
        #expect(try await story.signIn(code).summary == Self.refused)
        let preview = try await story.preview(token)
        #expect(preview.status == 200, "\(preview.body)")
        let plan = try #require(preview.text("plan_digest"))
        #expect(try await story.merge(token, plan: plan).summary == Self.refused)
        let answer = try await story.signIn(token)
        #expect(answer.text("user_id") == story.ada.userID, "\(answer.body)")
        #expect(try await story.signIn(token).summary == Self.refused)
    }

    @Test func `a code and the tokens of its refused links are used up together`() async throws {
        for usesCode in [true, false] {
            let story = try await Story()
            let code = try story.code()
            let tokens = [try await story.token(code), try await story.token(code)]
            let first = usesCode ? code : tokens[0]
            #expect(try await story.signIn(first).status == 200)
            for other in [code, tokens[0], tokens[1]] {
                #expect(try await story.signIn(other).summary == Self.refused)
            }
        }
    }

    @Test func `the token belongs to the tenant, the verifier and the session, and links nothing`()
        async throws
    {
        let story = try await Story()
        let token = try await story.token(story.code())
        #expect(try await story.signIn(token, tenant: "/t/acme").summary == Self.refused)
        let other = String(repeating: "w", count: 43)
        #expect(try await story.signIn(token, verifier: other).summary == Self.refused)
        let again = try await story.service.signIn("apple", "bob")
        #expect(try await story.preview(token, by: again).summary == Self.refused)
        #expect(try await story.link(token).summary == Self.refused)
        story.service.clock.advance(seconds: 600)
        #expect(try await story.signIn(token).summary == Self.refused)
    }

    @Test func `what has happened to the identity since counts`() async throws {
        let story = try await Story()
        let token = try await story.token(story.code())
        #expect(try await story.service.link("apple", subject: "a", by: story.ada).status == 200)
        #expect(try await story.service.unlink("google", by: story.ada).status == 200)
        #expect(try await story.signIn(token).summary == "404 ACCOUNT_NOT_FOUND")
        let linked = try await story.service.link("google", subject: "ada", by: story.bob)
        #expect(linked.status == 200)
        #expect(try await story.preview(token).summary == "409 SAME_ACCOUNT")
        #expect(try await story.signIn(token).text("user_id") == story.bob.userID)
    }

    @Test func `no key keeps a token, and only an identity of another account has one`()
        async throws
    {
        let story = try await Story()
        let code = try story.code()
        let conflict = "409 PROVIDER_CONFLICT"
        for (seconds, hasToken) in [(Int64(0), true), (59, true), (1, false)] {
            story.service.clock.advance(seconds: seconds)
            let answer = try await story.link(code, key: "k")
            #expect(answer.summary == conflict)
            #expect((answer.detail("proof_token") != nil) == hasToken)
        }
        let own = try await story.link(story.code("apple", as: "bob"), at: "apple")
        #expect(own.summary == conflict && own.detail("proof_token") == nil)
    }
}
