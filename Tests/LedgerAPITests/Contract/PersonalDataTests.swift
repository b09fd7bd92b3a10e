import Ledger
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct PersonalDataTests {
    @Test func `no entry holds a subject, an address, a token or a browser`() async throws {
        let service = try TestService()
        let agent = "SecretBrowser/1.0"
        let signIn = service.idToken("apple", "subject-ada")
        let person = try Person(
            await service.postSignIn("apple", signIn, headers: [("User-Agent", agent)]))
        let link = service.idToken("google", "subject-g")
        _ = try await service.link("google", link, by: person, key: "secret-key")
        _ = try await service.link("google", "bad-token", by: person)
        _ = try await service.unlink("google", by: person)
        _ = try await service.unlink("apple", by: person)
        _ = try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken)
        let secrets = [
            "subject-ada", "subject-g", "example.com", agent, "127.0.0.1", "secret-key",
            "bad-token", person.accessToken, person.refreshToken, signIn, link,
        ]
        let entries = service.ledger.recordings().map {
            String(decoding: $0.entry, as: UTF8.self)
        }
        #expect(entries.count == 8)
        for entry in entries {
            for secret in secrets {
                #expect(!entry.contains(secret))
            }
        }
    }
}
