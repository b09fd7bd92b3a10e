import Cryptography
import JSON
import Ledger
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct SignInTests {
    @Test func `a first sign-in opens an account`() async throws {
        let service = try TestService()
        let answer = try await service.postSignIn("apple", service.idToken("apple", "ada"))
        #expect(answer.status == 200)
        #expect(
            answer.json.keys.sorted() == [
                "access_token", "expires_in", "is_new_user", "linked_providers",
                "refresh_token", "token_type", "user_id",
            ])
        #expect(answer.text("token_type") == "Bearer")
        #expect(answer.json["expires_in"]?.number == 600)
        #expect(answer.json["is_new_user"] == .bool(true))
        #expect(answer.providers == ["apple"])
        #expect(answer["Cache-Control"] == "no-store")
        #expect(service.log() == ["AccountOpened", "ProviderLinked", "SignedIn"])
    }

    @Test func `a later sign-in opens the same account`() async throws {
        let service = try TestService()
        let first = try await service.signIn("apple", "ada")
        let second = try await service.signIn("apple", "ada")
        #expect(second.userID == first.userID)
        #expect(!second.isNew)
        #expect(second.accessToken != first.accessToken)
        // Both sessions are live.
        #expect(try await service.account(first.accessToken).status == 200)
        #expect(try await service.account(second.accessToken).status == 200)
    }

    @Test func `a linked provider opens the same account on another device`() async throws {
        let service = try TestService()
        let phone = try await service.signIn("apple", "ada")
        #expect(try await service.link("google", subject: "ada-g", by: phone).status == 200)
        let laptop = try await service.signIn("google", "ada-g")
        #expect(laptop.userID == phone.userID)
        #expect(laptop.providers == ["apple", "google"])
        #expect(!laptop.isNew)
    }

    @Test func `no account is opened against the client's wish`() async throws {
        let service = try TestService()
        let token = service.idToken("apple", "ada")
        let refused = try await service.postSignIn("apple", token, ",\"create_account\":false")
        #expect(refused.summary == "404 ACCOUNT_NOT_FOUND")
        #expect(service.log().isEmpty)
        let known = try await service.signIn("apple", "ada")
        let again = try await service.postSignIn("apple", token, ",\"create_account\":false")
        #expect(again.text("user_id") == known.userID)
        #expect(again.json["is_new_user"] == .bool(false))
    }

    @Test(arguments: ["facebook", "Apple", "a%20b", "%C3%A9"])
    func `a provider that is not configured is unsupported`(name: String) async throws {
        let service = try TestService()
        let answer = try await service.postSignIn(name, service.idToken("apple", "ada"))
        #expect(answer.summary == "400 UNSUPPORTED_PROVIDER")
        #expect(service.log().isEmpty)
    }

    @Test(arguments: [
        ["iss": "\"https://evil.example\""], ["aud": "\"other\""], ["exp": "1000000000"],
        ["exp": nil], ["sub": nil], ["sub": "\"\""], ["sub": "\"a\\u0000b\""], ["iat": nil],
        ["nonce": "\"unasked\""], ["aud": "[\"test-client\",\"other\"]"],
    ])
    func `an invalid ID token opens nothing and appends nothing`(
        claims: [String: String?]
    ) async throws {
        let service = try TestService()
        let token = service.idToken("apple", "ada", claims: claims)
        let answer = try await service.postSignIn("apple", token)
        #expect(answer.summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(answer["WWW-Authenticate"] == "Bearer")
        #expect(service.log().isEmpty)
        #expect(service.ledger.commandCount == 0)
    }

    @Test func `a token of a foreign key or of another provider is refused`() async throws {
        let service = try TestService()
        let forged = service.apple.token(
            subject: "ada", signedBy: TestIdentityProvider.otherKey,
            at: service.clock.now.seconds)
        let tokens = [forged, service.idToken("google", "ada"), "x", "a.b.c"]
        for token in tokens {
            let answer = try await service.postSignIn("apple", token)
            #expect(answer.summary == "401 INVALID_PROVIDER_TOKEN")
        }
        #expect(service.ledger.commandCount == 0)
    }

    @Test func `an unavailable provider is a 503 with Retry-After`() async throws {
        let service = try TestService()
        service.apple.setDown(true)
        let answer = try await service.postSignIn("apple", service.idToken("apple", "ada"))
        #expect(answer.summary == "503 UNAVAILABLE")
        #expect(answer["Retry-After"] == "5")
        // Only the configured provider counts.
        #expect(try await service.signIn("google", "ada").isNew)
    }

    @Test func `an identity signs in 60 times an hour`() async throws {
        let service = try TestService()
        for _ in 0..<60 {
            _ = try await service.signIn("apple", "ada")
            service.clock.advance(seconds: 10)
        }
        let refused = try await service.postSignIn("apple", service.idToken("apple", "ada"))
        #expect(refused.summary == "429 RATE_LIMITED")
        #expect(refused["Retry-After"] == "3000")
        #expect(service.log().count == 62)
        #expect(try await service.signIn("apple", "bob").isNew)
        service.clock.advance(seconds: 3000)
        #expect(try await service.signIn("apple", "ada").isNew == false)
    }

    @Test func `a later sign-in updates the e-mail address`() async throws {
        let service = try TestService()
        _ = try await service.signIn("apple", "ada")
        let later = try await service.signIn(
            "apple", "ada", claims: ["email": "\"new@example.com\""])
        let account = try await service.account(later.accessToken)
        let identity = try #require(account.json["identities"]?.array?.first?.members)
        #expect(identity["email"] == .string("new@example.com"))
    }
}
