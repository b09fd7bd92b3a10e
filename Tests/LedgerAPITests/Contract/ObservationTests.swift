import LedgerAPI
import Testing

@Suite(.overBothTransports) struct ObservationTests {
    @Test func `each request is observed once, by its template`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        _ = try await service.link("facebook", "x", by: person)
        _ = try await service.account(person.accessToken, tenant: "/t/default")
        _ = try await service.send("GET", "/secret/ada@example.com?token=x")
        _ = try await service.send("BREW", "/v1/account")
        _ = try await service.send("OPTIONS", "/v1/account")
        let seen = service.observer.observations
        #expect(
            seen.map { "\($0.method) \($0.route) \($0.status)" } == [
                "POST /v1/auth/sign-in/{provider} 200", "POST /v1/auth/link/{provider} 400",
                "GET /t/{tenant}/v1/account 200", "GET unmatched 404", "OTHER /v1/account 405",
                "OPTIONS /v1/account 204",
            ])
        #expect(seen.allSatisfy { $0.duration > .zero })
        #expect(Set(seen.map(\.requestID)).count == seen.count)
    }

    @Test func `an observation carries the name that the answer carries`() async throws {
        let service = try TestService()
        let answer = try await service.send("GET", "/healthz")
        #expect(service.observer.observations.map(\.requestID) == [answer["X-Request-Id"]])
    }
}
