import Cryptography
import Encodings
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct RefreshTests {
    @Test func `a refresh gives a new pair and keeps the account`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let count = service.log().count
        let answer = try await service.refresh(person.refreshToken)
        let renewed = try Person(answer)
        #expect(renewed.userID == person.userID)
        #expect(renewed.refreshToken != person.refreshToken)
        #expect(!renewed.isNew)
        #expect(renewed.providers == ["apple"])
        #expect(answer.json["expires_in"]?.number == 600)
        #expect(service.log().count == count)
        #expect(try await service.account(renewed.accessToken).status == 200)
    }

    @Test func `the preceding token gives the same successor for ten seconds`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let first = try Person(await service.refresh(person.refreshToken))
        service.clock.advance(seconds: 10)
        let again = try Person(await service.refresh(person.refreshToken))
        #expect(again.refreshToken == first.refreshToken)
        #expect(try await service.refresh(first.refreshToken).status == 200)
    }

    @Test func `a later reuse ends the family`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let renewed = try Person(await service.refresh(person.refreshToken))
        service.clock.advance(seconds: 11)
        let reused = try await service.refresh(person.refreshToken)
        #expect(reused.summary == "401 INVALID_REFRESH_TOKEN")
        #expect(reused["WWW-Authenticate"] == "Bearer")
        #expect(service.log().last == "SessionRevoked")
        #expect(
            try await service.refresh(renewed.refreshToken).summary
                == "401 INVALID_REFRESH_TOKEN")
        #expect(
            try await service.account(renewed.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
    }

    @Test func `a token two steps back ends the family inside the grace time, too`()
        async throws
    {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let second = try Person(await service.refresh(person.refreshToken))
        _ = try await service.refresh(second.refreshToken)
        #expect(
            try await service.refresh(person.refreshToken).summary == "401 INVALID_REFRESH_TOKEN")
        #expect(service.log().last == "SessionRevoked")
    }

    @Test func `a token that this ledger did not issue never reaches the queue`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        let person = try await service.signIn("apple", "ada")
        let count = service.ledger.commandCount
        var bytes = try #require(Base64URL.decode(person.refreshToken))
        bytes[40] ^= 1
        let invented = Base64URL.encode(bytes)
        let texts = ["x", "AAAA", invented, person.accessToken, person.refreshToken + "A"]
        for text in texts {
            #expect(try await service.refresh(text).summary == "401 INVALID_REFRESH_TOKEN")
        }
        let foreign = try await service.refresh(person.refreshToken, tenant: "/t/acme")
        #expect(foreign.summary == "401 INVALID_REFRESH_TOKEN")
        #expect(service.ledger.commandCount == count)
        #expect(try await service.refresh(person.refreshToken).status == 200)
    }

    @Test func `a refresh keeps auth_time`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let signedIn = try #require(
            service.accessTokens.check(person.accessToken, for: .default, at: service.clock.now))
        service.clock.advance(seconds: 500)
        let renewed = try Person(await service.refresh(person.refreshToken))
        let later = try #require(
            service.accessTokens.check(renewed.accessToken, for: .default, at: service.clock.now))
        #expect(later.authenticatedAt == signedIn.authenticatedAt)
        #expect(later.issuedAt == signedIn.issuedAt + 500)
        #expect(later.caller == signedIn.caller)
    }
}
