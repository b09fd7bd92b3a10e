import Testing

@Suite(.overBothTransports) struct SignOutTests {
    @Test(arguments: [nil, "{}", "{\"everywhere\":false}", "{\"everywhere\":null,\"x\":[1]}"])
    func `one session ends`(body: String?) async throws {
        let service = try TestService()
        let here = try await service.signIn("apple", "ada")
        let there = try await service.signIn("apple", "ada")
        let answer = try await service.send(
            "POST", "/v1/auth/sign-out", body, token: here.accessToken)
        #expect(answer.status == 200)
        #expect(answer.body == "{}")
        #expect(service.log().last == "SignedOut")
        #expect(
            try await service.account(here.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        #expect(
            try await service.refresh(here.refreshToken).summary == "401 INVALID_REFRESH_TOKEN")
        #expect(try await service.account(there.accessToken).status == 200)
    }

    @Test func `all sessions of the account end, and no others`() async throws {
        let service = try TestService()
        let here = try await service.signIn("apple", "ada")
        let there = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("apple", "bob")
        let answer = try await service.send(
            "POST", "/v1/auth/sign-out", "{\"everywhere\":true}", token: here.accessToken)
        #expect(answer.status == 200)
        #expect(
            try await service.account(there.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        #expect(try await service.account(bob.accessToken).status == 200)
    }

    @Test func `a second sign-out finds no session`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken)
        let again = try await service.send(
            "POST", "/v1/auth/sign-out", token: person.accessToken)
        #expect(again.summary == "401 INVALID_ACCESS_TOKEN")
    }
}
