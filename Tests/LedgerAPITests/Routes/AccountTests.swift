import JSON
import Ledger
import Testing

@Suite(.overBothTransports) struct AccountTests {
    @Test func `identities are listed in linking order`() async throws {
        let service = try TestService()
        let person = try await service.signIn("google", "ada", claims: ["email": nil])
        service.clock.advance(seconds: 1)
        _ = try await service.link("apple", subject: "ada-a", by: person)
        let answer = try await service.account(person.accessToken)
        #expect(answer.json.keys.sorted() == ["identities", "linked_providers", "user_id"])
        #expect(answer.text("user_id") == person.userID)
        #expect(answer.providers == ["google", "apple"])
        let identities = (answer.json["identities"]?.array ?? []).compactMap(\.members)
        try #require(identities.count == 2)
        #expect(identities[0].keys.sorted() == ["identity_id", "linked_at", "provider"])
        #expect(
            identities[1].keys.sorted()
                == ["email", "email_verified", "identity_id", "linked_at", "provider"])
        #expect(identities[1]["email"] == .string("ada-a@example.com"))
        #expect(identities[1]["linked_at"] == .string("2025-06-15T15:06:41.000000Z"))
        let identity = identities[0]["identity_id"]?.string
        #expect(identity.flatMap { IdentityID($0) } != nil)
        #expect(!answer.body.contains("\"ada\""))
    }

    @Test func `an account is read by HEAD as by GET`() async throws {
        let service = try TestService()
        let person = try await service.signIn("google", "ada")
        let answer = try await service.send("HEAD", "/v1/account", token: person.accessToken)
        #expect(answer.status == 200)
    }
}
