import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

/// The names that people give to passkeys.
@Suite(.overBothTransports) struct PasskeyNameTests {
    private func give(
        _ name: String, to identity: String, by person: Person, in service: TestService
    ) async throws -> Answer {
        try await service.send(
            "PUT", "/v1/account/identities/\(identity)/name", "{\"name\":\(name)}",
            token: person.accessToken)
    }

    private func identities(_ answer: Answer) -> [JSONMembers] {
        (answer.json["identities"]?.array ?? []).compactMap(\.members)
    }

    @Test func `a passkey has the last name that its holder gave, and no event has it`()
        async throws
    {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let ada = try await service.signUp(&passkey)
        let linked = identities(try await service.account(ada.accessToken))
        let identity = try #require(linked.first?["identity_id"]?.string)
        #expect(linked.first?["name"] == nil)
        let count = service.log().count
        // Decomposed, it is the same name.
        let named = try await give(#""Gere\u0301t <b>1</b>""#, to: identity, by: ada, in: service)
        #expect(named.summary == "200 OK", "\(named.body)")
        #expect(identities(named).first?["name"]?.string == "Ger\u{E9}t <b>1</b>")
        _ = try await give(#""Work phone""#, to: identity, by: ada, in: service)
        let shown = identities(try await service.account(ada.accessToken))
        #expect(shown.first?["name"]?.string == "Work phone")
        #expect(service.log().count == count)
        // Support sees it where personal data are shown for a reason.
        let key = try service.audit.key(.support)
        let path = "/v1/accounts/\(ada.userID)"
        let plain = try await service.send("GET", path, token: key)
        #expect(plain.status == 200 && !plain.body.contains("Work phone"))
        let disclosed = try await service.send(
            "GET", path + "?disclose=true", token: key, headers: [("Ledger-Reason", "case 1")])
        #expect(
            disclosed.json["links"]?.array?.first?.members?["name"]?.string == "Work phone")
    }

    @Test(arguments: [
        #""""#, #"" ""#, #""a\nb""#, #""a\u202eb""#, #""\u200b""#, "7", "null",
        "\"" + String(repeating: "x", count: 65) + "\"",
    ])
    func `a name is short, visible and without control characters`(name: String) async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let ada = try await service.signUp(&passkey)
        let identity = try #require(
            identities(try await service.account(ada.accessToken)).first?["identity_id"]?.string)
        let refused = try await give(name, to: identity, by: ada, in: service)
        #expect(refused.summary == "400 INVALID_REQUEST", "\(refused.body)")
        let longest = "\"" + String(repeating: "\u{1F511}", count: 64) + "\""
        #expect(try await give(longest, to: identity, by: ada, in: service).status == 200)
    }

    @Test func `only the holder names a passkey, and nothing else has a name`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let ada = try await service.signUp(&passkey)
        let bob = try await service.signIn("google", "bob")
        let passkeyID = try #require(
            identities(try await service.account(ada.accessToken)).first?["identity_id"]?.string)
        let googleID = try #require(
            identities(try await service.account(bob.accessToken)).first?["identity_id"]?.string)
        for (identity, person) in [(passkeyID, bob), (googleID, bob), ("x", ada), (googleID, ada)] {
            let refused = try await give(#""mine""#, to: identity, by: person, in: service)
            #expect(refused.summary == "404 PROVIDER_NOT_LINKED", "\(refused.body)")
        }
        #expect(identities(try await service.account(ada.accessToken)).first?["name"] == nil)
        _ = try await service.send(
            "POST", "/v1/auth/sign-out", "{}", token: ada.accessToken)
        #expect(
            try await give(#""mine""#, to: passkeyID, by: ada, in: service).summary
                == "401 INVALID_ACCESS_TOKEN")
    }
}
