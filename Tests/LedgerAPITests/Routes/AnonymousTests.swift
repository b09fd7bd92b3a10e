import Encodings
import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct AnonymousTests {
    private static let path = "/v1/auth/sign-in/anonymous"

    private func service(
        networkLimit: Int = 100, _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.anonymous = OpeningBudget(networkLimit: networkLimit, tenantLimit: 100)
            change(&$0)
        }
    }

    private func signIn(
        _ service: TestService, secret: String, tenant: String = ""
    ) async throws -> Answer {
        try await service.send(
            "POST", tenant + Self.path, "{\"anonymous_secret\":\"\(secret)\"}")
    }

    @Test func `a sign-in without a secret opens an account and returns its secret once`()
        async throws
    {
        let service = try service()
        let opened = try await service.send("POST", Self.path, "{}")
        let person = try Person(opened)
        #expect(person.isNew)
        #expect(person.providers == ["anonymous"])
        let secret = try #require(opened.text("anonymous_secret"))
        #expect(secret.utf8.count == 43)
        #expect(service.log() == ["AccountOpened", "ProviderLinked", "SignedIn"])

        #expect(try Person(opened).methods == ["anon"])

        let again = try await signIn(service, secret: secret)
        #expect(try Person(again).userID == person.userID)
        #expect(again.json["anonymous_secret"] == nil)
        #expect(again.json["is_new_user"] == .bool(false))
        let refreshed = try await service.refresh(person.refreshToken)
        #expect(refreshed.json["anonymous_secret"] == nil)
        // The log and the read model have a digest.
        #expect(!service.ledger.events(of: .default).map { "\($0)" }.joined().contains(secret))
        #expect(!(try await service.account(person.accessToken)).body.contains(secret))
    }

    @Test(arguments: ["", "x", String(repeating: "A", count: 42), "not base64url !!"])
    func `a text that is no secret proves nothing`(secret: String) async throws {
        let service = try service()
        #expect(
            try await signIn(service, secret: secret).summary
                == (secret.isEmpty ? "400 INVALID_REQUEST" : "401 INVALID_PROVIDER_TOKEN"))
        #expect(service.log().isEmpty)
    }

    @Test func `an unknown secret and another tenant's open nothing`() async throws {
        let service = try service { $0.tenants = [.default, tenant("acme")] }
        let unknown = String(repeating: "A", count: 43)
        #expect(try await signIn(service, secret: unknown).summary == "404 ACCOUNT_NOT_FOUND")
        let opened = try await service.send("POST", Self.path, "{}")
        let secret = try #require(opened.text("anonymous_secret"))
        #expect(
            try await signIn(service, secret: secret, tenant: "/t/acme").summary
                == "404 ACCOUNT_NOT_FOUND")
        #expect(service.log(tenant("acme")).isEmpty)
    }

    @Test func `an account that is not wanted is not opened`() async throws {
        let service = try service(networkLimit: 1)
        let refused = try await service.send("POST", Self.path, "{\"create_account\":false}")
        #expect(refused.summary == "404 ACCOUNT_NOT_FOUND")
        // It took nothing from the budget.
        #expect(try await service.send("POST", Self.path, "{}").status == 200)
    }

    @Test func `a tenant without anonymous accounts has no such provider`() async throws {
        let service = try TestService()
        #expect(
            try await service.send("POST", Self.path, "{\"id_token\":\"a\"}").summary
                == "400 UNSUPPORTED_PROVIDER")
    }

    @Test func `a network opens as many accounts as its limit, and may still sign in`()
        async throws
    {
        let service = try service(networkLimit: 2) { $0.proxies = "127.0.0.1,::1" }
        func open(_ address: String) async throws -> Answer {
            try await service.send(
                "POST", Self.path, "{}", headers: [("X-Forwarded-For", address)])
        }
        let first = try await open("2001:db8::1")
        #expect(try await open("2001:db8::ffff:0:0:1").status == 200)
        let refused = try await open("2001:db8::3:1")
        #expect(refused.summary == "429 RATE_LIMITED")
        #expect(refused["Retry-After"] == "1800")
        #expect(try await open("2001:db8:0:1::1").status == 200)
        let secret = try #require(first.text("anonymous_secret"))
        let again = try await service.send(
            "POST", Self.path, "{\"anonymous_secret\":\"\(secret)\"}",
            headers: [("X-Forwarded-For", "2001:db8::1")])
        #expect(again.status == 200)
    }

    @Test func `the first link keeps the account and the session, and ends the secret`()
        async throws
    {
        let service = try service()
        let opened = try await service.send("POST", Self.path, "{}")
        let person = try Person(opened)
        let secret = try #require(opened.text("anonymous_secret"))
        let linked = try await service.link("google", subject: "ada", by: person)
        #expect(linked.providers == ["google"])
        #expect(
            service.log() == [
                "AccountOpened", "ProviderLinked", "SignedIn", "ProviderLinked",
                "ProviderUnlinked",
            ])
        let refreshed = try await service.refresh(person.refreshToken)
        #expect(try Person(refreshed).userID == person.userID)
        #expect(refreshed.providers == ["google"])
        #expect(try Person(refreshed).methods == ["fed"])
        #expect(try await signIn(service, secret: secret).summary == "404 ACCOUNT_NOT_FOUND")
        #expect(try await service.signIn("google", "ada").userID == person.userID)
    }

    @Test func `an anonymous identity is never linked`() async throws {
        let service = try service()
        let ada = try await service.signIn("apple", "ada")
        let secret = try #require(
            try await service.send("POST", Self.path, "{}").text("anonymous_secret"))
        let answer = try await service.send(
            "POST", "/v1/auth/link/anonymous", "{\"anonymous_secret\":\"\(secret)\"}",
            token: ada.accessToken)
        #expect(answer.summary == "400 UNSUPPORTED_PROVIDER")
    }

    @Test func `a taken identity leaves the account, and the secret proves it in a merge`()
        async throws
    {
        let service = try service()
        let opened = try await service.send("POST", Self.path, "{}")
        let anonymous = try Person(opened)
        let secret = try #require(opened.text("anonymous_secret"))
        let ada = try await service.signIn("google", "ada")
        #expect(
            try await service.link("google", subject: "ada", by: anonymous).summary
                == "409 PROVIDER_CONFLICT")
        let body = "{\"provider\":\"anonymous\",\"anonymous_secret\":\"\(secret)\""
        let preview = try await service.send(
            "POST", "/v1/account/merge/preview", body + "}", token: ada.accessToken)
        let plan = try #require(preview.text("plan_digest"))
        let merged = try await service.send(
            "POST", "/v1/account/merge", body + ",\"plan_digest\":\"\(plan)\"}",
            token: ada.accessToken)
        #expect(merged.status == 200)
        #expect(service.log().last == "AccountsMerged")
        #expect(try await service.account(ada.accessToken).providers == ["google"])
        #expect(try await signIn(service, secret: secret).summary == "404 ACCOUNT_NOT_FOUND")
    }
}
