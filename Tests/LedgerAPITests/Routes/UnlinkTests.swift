import Cryptography
import JSON
import Ledger
import Testing

@Suite(.overBothTransports) struct UnlinkTests {
    @Test func `a provider is unlinked`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: person)
        let answer = try await service.unlink("google", by: person)
        #expect(answer.status == 200)
        #expect(
            answer.body
                == "{\"linked_providers\":[\"apple\"],\"message\":\"Google account unlinked\"}")
        #expect(service.log().last == "ProviderUnlinked")
        // The identity is unlinked: it opens an account of its own.
        #expect(try await service.signIn("google", "ada-g").userID != person.userID)
    }

    @Test func `not linked comes before only provider, and that before re-authentication`()
        async throws
    {
        let service = try TestService()
        let first = try await service.signIn("apple", "ada")
        service.clock.advance(seconds: 601)
        let person = try Person(await service.refresh(first.refreshToken))
        let before = service.log()
        for name in ["google", "facebook", "GOOGLE", "a%20b"] {
            let answer = try await service.unlink(name, by: person)
            #expect(answer.summary == "404 PROVIDER_NOT_LINKED")
        }
        #expect(service.log() == before)
        let only = try await service.unlink("apple", by: person)
        #expect(only.summary == "400 CANNOT_UNLINK_ONLY_PROVIDER")
        #expect(only.message == "Cannot unlink your only authentication method")
        _ = try await service.link("google", subject: "ada-g", by: person)
        let stale = try await service.unlink("google", by: person)
        #expect(stale.summary == "403 REAUTHENTICATION_REQUIRED")
        #expect(service.log().filter { $0 == "UnlinkRejected" }.count == 2)
        // Repeated refusals are not appended again.
        _ = try await service.unlink("google", by: person)
        #expect(service.log().filter { $0 == "UnlinkRejected" }.count == 2)
        let fresh = try await service.signIn("apple", "ada")
        #expect(try await service.unlink("google", by: fresh).status == 200)
    }

    @Test func `an old auth_time in the ID token counts, not the moment of sign-in`()
        async throws
    {
        let service = try TestService()
        let long = service.clock.now.seconds - 3600
        let person = try await service.signIn("apple", "ada", claims: ["auth_time": "\(long)"])
        _ = try await service.link("google", subject: "ada-g", by: person)
        let answer = try await service.unlink("google", by: person)
        #expect(answer.summary == "403 REAUTHENTICATION_REQUIRED")
    }

    @Test func `an auth_time in the future counts as now`() async throws {
        let service = try TestService()
        let ahead = service.clock.now.seconds + 86_400
        let person = try await service.signIn("apple", "ada", claims: ["auth_time": "\(ahead)"])
        _ = try await service.link("google", subject: "ada-g", by: person)
        service.clock.advance(seconds: 601)
        let renewed = try Person(await service.refresh(person.refreshToken))
        let answer = try await service.unlink("google", by: renewed)
        #expect(answer.summary == "403 REAUTHENTICATION_REQUIRED")
    }

    @Test func `an unlink ends the sessions that the identity opened and no others`()
        async throws
    {
        let service = try TestService()
        let byApple = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: byApple)
        let byGoogle = try await service.signIn("google", "ada-g")
        #expect(try await service.unlink("google", by: byApple).status == 200)
        #expect(
            try await service.account(byGoogle.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        #expect(
            try await service.refresh(byGoogle.refreshToken).summary
                == "401 INVALID_REFRESH_TOKEN")
        #expect(try await service.account(byApple.accessToken).providers == ["apple"])
    }

    @Test func `one of several identities of a provider must be named`() async throws {
        let service = try TestService { $0.severalPerProvider = true }
        let person = try await service.signIn("apple", "ada")
        _ = try await service.link("apple", subject: "ada-2", by: person)
        let unnamed = try await service.unlink("apple", by: person)
        #expect(unnamed.summary == "400 INVALID_REQUEST")
        #expect(unnamed.detail("parameter")?.string == "identity_id")
        let identities = try await service.account(person.accessToken).json["identities"]?.array
        let ids = identities?.compactMap { $0.members?["identity_id"]?.string }
        #expect(unnamed.detail("identity_ids")?.array?.compactMap(\.string) == ids)
        #expect(ids?.count == 2)
        let second = try #require(identities?.last?.members?["identity_id"]?.string)
        for query in ["?identity_id=x", "?identity_id=\(second)&identity_id=\(second)"] {
            let answer = try await service.unlink("apple", by: person, query: query)
            #expect(answer.summary == "400 INVALID_REQUEST")
        }
        let named = try await service.unlink(
            "apple", by: person, query: "?unknown=1&identity_id=\(second)")
        #expect(named.status == 200)
        #expect(named.providers == ["apple"])
    }

    @Test func `a provider that left the configuration can still be unlinked`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: person)
        let later = try service.restarted(providers: [service.apple])
        let answer = try await later.unlink("google", by: person)
        #expect(answer.status == 200)
        #expect(answer.message == "Google account unlinked")
        let gone = try await later.link("google", subject: "x", by: person)
        #expect(gone.summary == "400 UNSUPPORTED_PROVIDER")
    }

    @Test(arguments: ["apple", "google", "facebook", "GOOGLE"])
    func `an ended session is reported before anything else`(name: String) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken)
        let answer = try await service.unlink(name, by: person)
        #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
    }
}
