import Cryptography
import JSON
import Ledger
import Testing

@Suite(.overBothTransports) struct IdempotencyTests {
    @Test func `the same request under a key has the same answer and no second event`()
        async throws
    {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let token = service.idToken("google", "ada-g")
        let first = try await service.link("google", token, by: person, key: "k 1")
        let count = service.log().count
        // The second one would be a conflict if it were decided again.
        let second = try await service.link("google", token, by: person, key: "k 1")
        #expect(first.status == 200)
        #expect(second.body == first.body)
        #expect(service.log().count == count)
    }

    @Test func `another body under a key is refused`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let token = service.idToken("google", "ada-g")
        _ = try await service.link("google", token, by: person, key: "k")
        let other = try await service.link("google", token, ",\"x\":1", by: person, key: "k")
        #expect(other.summary == "422 IDEMPOTENCY_KEY_REUSED")
        let tokenless = try await service.link(
            "google", service.idToken("google", "z"), by: person, key: "k")
        #expect(tokenless.summary == "422 IDEMPOTENCY_KEY_REUSED")
    }

    @Test func `appended refusals are stored, too`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.signIn("google", "bob")
        let token = service.idToken("google", "bob")
        for _ in 0..<3 {
            let answer = try await service.link("google", token, by: person, key: "k")
            #expect(answer.summary == "409 PROVIDER_CONFLICT")
        }
        #expect(service.log().filter { $0 == "ConflictRejected" }.count == 1)
        for _ in 0..<3 {
            let answer = try await service.unlink("apple", by: person, key: "k")
            #expect(answer.summary == "400 CANNOT_UNLINK_ONLY_PROVIDER")
        }
    }

    @Test func `an unlink is answered again after it ended the session`() async throws {
        let service = try TestService()
        let apple = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: apple)
        let google = try await service.signIn("google", "ada-g")
        let first = try await service.unlink("google", by: google, key: "k")
        #expect(first.status == 200)
        #expect(
            try await service.account(google.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        let again = try await service.unlink("google", by: google, key: "k")
        #expect(again.status == 200)
        #expect(again.body == first.body)
        // Without the key, or with another, the answer is only that the session has ended.
        for key in [nil, "other"] {
            let answer = try await service.unlink("google", by: google, key: key)
            #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
        }
    }

    @Test func `the scope of a key is one account, method, path and tenant`()
        async throws
    {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        let ada = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("apple", "bob")
        let token = service.idToken("google", "shared")
        #expect(try await service.link("google", token, by: ada, key: "k").status == 200)
        #expect(try await service.link("google", token, by: bob, key: "k").status == 409)
        #expect(try await service.link("apple", token, by: ada, key: "k").status == 401)
        #expect(try await service.unlink("google", by: ada, key: "k").status == 200)
        let elsewhere = try await service.signIn("apple", "ada", tenant: "/t/acme")
        let answer = try await service.link(
            "google", token, by: elsewhere, key: "k", tenant: "/t/acme")
        #expect(answer.status == 200)
    }

    @Test func `the default tenant's two spellings are one path`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let token = service.idToken("google", "g")
        let bare = try await service.link("google", token, by: person, key: "k")
        let long = try await service.link(
            "google", token, by: person, key: "k", tenant: "/t/default")
        #expect(bare.status == 200)
        #expect(long.body == bare.body)
    }

    @Test func `a key is valid for 24 hours`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let token = service.idToken(
            "google", "g", claims: ["exp": "\(service.clock.now.seconds + 200_000)"])
        #expect(try await service.link("google", token, by: person, key: "k").status == 200)
        service.clock.advance(seconds: 86_399)
        let renewed = try Person(await service.refresh(person.refreshToken))
        #expect(try await service.link("google", token, by: renewed, key: "k").status == 200)
        service.clock.advance(seconds: 1)
        #expect(try await service.link("google", token, by: renewed, key: "k").status == 409)
    }

    @Test func `the named identity is part of an unlink's content`() async throws {
        let service = try TestService { $0.severalPerProvider = true }
        let person = try await service.signIn("apple", "a1")
        _ = try await service.link("apple", subject: "a2", by: person)
        _ = try await service.link("apple", subject: "a3", by: person)
        let identities = try await service.account(person.accessToken).json["identities"]?.array
        let ids = (identities ?? []).compactMap { $0.members?["identity_id"]?.string }
        try #require(ids.count == 3)
        let first = try await service.unlink(
            "apple", by: person, key: "k", query: "?identity_id=\(ids[1])")
        #expect(first.status == 200)
        let other = try await service.unlink(
            "apple", by: person, key: "k", query: "?identity_id=\(ids[2])")
        #expect(other.summary == "422 IDEMPOTENCY_KEY_REUSED")
    }

    @Test(arguments: [
        ("", false), ("  ", false), ("a\u{7F}b", false), ("é", false), ("a\tb", false),
        (String(repeating: "k", count: 256), false), (String(repeating: "k", count: 255), true),
        (" padded ", true), ("~!{\"a\"}", true),
    ])
    func `a key has 1 to 255 printable characters`(key: String, isGood: Bool) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let link = try await service.link("google", subject: "g", by: person, key: key)
        let unlink = try await service.unlink("google", by: person, key: key)
        #expect(link.summary == (isGood ? "200 OK" : "400 INVALID_REQUEST"))
        #expect(unlink.summary == (isGood ? "200 OK" : "400 INVALID_REQUEST"))
    }

    @Test func `two keys are one too many`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let answer = try await service.send(
            "DELETE", "/v1/auth/link/apple", token: person.accessToken,
            headers: [("Idempotency-Key", "a"), ("idempotency-key", "b")])
        #expect(answer.summary == "400 INVALID_REQUEST")
        #expect(answer.body.contains("\"details\":{\"header\":\"Idempotency-Key\"}"))
    }

    @Test func `a malformed key is checked after the access token`() async throws {
        let service = try TestService()
        let answer = try await service.send(
            "DELETE", "/v1/auth/link/apple", headers: [("Idempotency-Key", "")])
        #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
    }
}

extension TestService {
    fileprivate func link(
        _ provider: String, subject: String, by person: Person, key: String
    ) async throws -> Answer {
        try await link(provider, idToken(provider, subject), by: person, key: key)
    }
}
