import Cryptography
import JSON
import Ledger
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct LinkTests {
    @Test(arguments: [("apple", "google", "Google"), ("google", "apple", "Apple")])
    func `a second provider is linked`(
        first: String, second: String, name: String
    ) async throws {
        let service = try TestService()
        let person = try await service.signIn(first, "ada")
        let answer = try await service.link(second, subject: "ada-2", by: person)
        #expect(answer.status == 200)
        #expect(
            answer.body == "{\"linked_providers\":[\"\(first)\",\"\(second)\"],"
                + "\"message\":\"\(name) account linked successfully\"}")
        #expect(service.log().suffix(1) == ["ProviderLinked"])
        // Linking keeps the session.
        #expect(try await service.account(person.accessToken).providers == [first, second])
    }

    @Test func `a configured display name is used in messages`() async throws {
        let service = try TestService { $0.displayName = "Goo \"G\"" }
        let person = try await service.signIn("apple", "ada")
        let linked = try await service.link("google", subject: "g", by: person)
        #expect(linked.message == "Goo \"G\" account linked successfully")
        let unlinked = try await service.unlink("google", by: person)
        #expect(unlinked.message == "Goo \"G\" account unlinked")
    }

    @Test func `the three conflicts have one answer and one event each`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("google", "bob")
        _ = try await service.link("google", subject: "ada-g", by: ada)
        let answers = [
            try await service.link("google", subject: "bob", by: ada),
            try await service.link("google", subject: "ada-g", by: ada),
            try await service.link("google", subject: "nobody", by: ada),
        ]
        for answer in answers {
            #expect(
                answer.body == "{\"error\":{\"code\":\"PROVIDER_CONFLICT\","
                    + "\"message\":\"This account is already in use\"}}")
            #expect(answer.status == 409)
            #expect(!answer.body.contains(bob.userID))
        }
        let reasons = service.ledger.events().compactMap { event in
            if case .conflictRejected(let fact) = event { fact.reason } else { nil }
        }
        #expect(reasons == [.heldByOther, .alreadyYours, .providerTaken])
    }

    @Test func `a tenant may allow several identities of a provider`() async throws {
        let service = try TestService { $0.severalPerProvider = true }
        let person = try await service.signIn("apple", "ada")
        let answer = try await service.link("apple", subject: "ada-2", by: person)
        #expect(answer.status == 200)
        #expect(answer.providers == ["apple"])
        let account = try await service.account(person.accessToken)
        #expect(account.json["identities"]?.array?.count == 2)
        #expect(account.providers == ["apple"])
    }

    @Test func `five attempts an hour are allowed, successful ones included`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        for index in 0..<4 {
            let bad = service.idToken("google", "g\(index)", claims: ["aud": "\"other\""])
            let answer = try await service.link("google", bad, by: person)
            #expect(answer.summary == "401 INVALID_PROVIDER_TOKEN")
            service.clock.advance(seconds: 60)
        }
        #expect(try await service.link("google", subject: "g", by: person).status == 200)
        let before = service.log()
        let refused = try await service.link("google", subject: "h", by: person)
        #expect(refused.summary == "429 RATE_LIMITED")
        #expect(refused["Retry-After"] == "3360")
        #expect(service.log() == before)
        // The access token has expired by then; the session has not.
        service.clock.advance(seconds: 3360)
        let renewed = try Person(await service.refresh(person.refreshToken))
        #expect(try await service.link("google", subject: "h", by: renewed).status == 409)
    }

    @Test func `the same token counts once and its refusal is appended once`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        _ = try await service.signIn("google", "bob")
        let token = service.idToken("google", "bob")
        for _ in 0..<7 {
            let answer = try await service.link("google", token, by: ada)
            #expect(answer.summary == "409 PROVIDER_CONFLICT")
        }
        #expect(service.log().filter { $0 == "ConflictRejected" }.count == 1)
        #expect(try await service.link("google", subject: "free", by: ada).status == 200)
    }

    @Test func `a request that fails before the ID token check does not count`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let before = service.log()
        for _ in 0..<6 {
            let unknown = try await service.link("facebook", "x", by: person)
            #expect(unknown.summary == "400 UNSUPPORTED_PROVIDER")
            let misnamed = try await service.link("FACEBOOK", "x", by: person)
            #expect(misnamed.summary == "400 UNSUPPORTED_PROVIDER")
            let malformed = try await service.send(
                "POST", "/v1/auth/link/google", "{}", token: person.accessToken)
            #expect(malformed.summary == "400 INVALID_REQUEST")
        }
        #expect(service.log() == before)
        #expect(try await service.link("google", subject: "g", by: person).status == 200)
    }

    @Test func `an unavailable provider is a 503 and no attempt`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        service.google.setDown(true)
        let before = service.log()
        let answer = try await service.link("google", subject: "g", by: person)
        #expect(answer.summary == "503 UNAVAILABLE")
        #expect(answer["Retry-After"] == "5")
        #expect(service.log() == before)
    }

    @Test func `a bad ID token is LinkRejected`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let answer = try await service.link("google", "not-a-token", by: person)
        #expect(answer.summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(service.log().last == "LinkRejected")
    }

    @Test func `an ended session is reported before anything else`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken)
        for (provider, token) in [("google", "x"), ("facebook", "x"), ("FACEBOOK", "x")] {
            let answer = try await service.link(provider, token, by: person)
            #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
            #expect(answer["WWW-Authenticate"] == "Bearer error=\"invalid_token\"")
        }
    }
}
