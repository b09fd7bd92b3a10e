import Ledger
import LedgerTestSupport
import Testing

/// Phone numbers that were not used for a long time.
@Suite(.overBothTransports) struct RecycledNumberTests {
    /// Sends a code to the number, and returns the body that answers it.
    private func code(_ service: TestService, by person: Person? = nil) async throws -> String {
        let sent = try await service.send(
            "POST", "/v1/\(person == nil ? "auth" : "account")/codes/phone",
            "{\"address\":\"+4915123456789\"}", token: person?.accessToken)
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
    }

    private func signIn(_ service: TestService) async throws -> Answer {
        try await service.send("POST", "/v1/auth/sign-in/phone", code(service))
    }

    private func link(_ service: TestService, by person: Person) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/link/phone", code(service, by: person), token: person.accessToken)
    }

    @Test func `a link confirms an unused number again`() async throws {
        let service = try TestService { $0.codes = [.phone] }
        let ada = try await service.signIn("google", "ada")
        #expect(try await link(service, by: ada).status == 200)
        service.clock.advance(seconds: 181 * 86_400)
        #expect(try await signIn(service).summary == "403 ADDRESS_UNUSED")
        let back = try await service.signIn("google", "ada")
        #expect(try await link(service, by: back).status == 200)
        #expect(try await link(service, by: back).summary == "409 PROVIDER_CONFLICT")
        #expect(try await signIn(service).text("user_id") == ada.userID)
    }

    @Test func `an unused number that is all its account has opens a new one`() async throws {
        let service = try TestService { $0.codes = [.phone] }
        let former = try Person(await signIn(service))
        service.clock.advance(seconds: 181 * 86_400)
        let next = try Person(await signIn(service))
        #expect(next.isNew && next.userID != former.userID)
    }
}
