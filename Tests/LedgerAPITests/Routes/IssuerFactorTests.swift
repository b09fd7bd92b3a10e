import Ledger
import LedgerTestSupport
import Testing

/// Second factors of an issuer, which its provider accepts by the claim `amr`.
@Suite(.overBothTransports) struct IssuerFactorTests {
    private let service: TestService

    init() throws {
        service = try TestService { $0.secondFactorMethods = ["google": ["mfa"]] }
    }

    /// The claims of a person who authenticated at the issuer some seconds ago.
    private func claims(
        _ amr: String? = #"["pwd","mfa"]"#, before seconds: Int64 = 0
    ) -> [String: String?] {
        ["amr": amr, "auth_time": "\(service.clock.now.seconds - seconds)"]
    }

    /// Opens an account with an authenticator app and an identity of each provider.
    private func enrol() async throws -> FactorHolder {
        let person = try await service.signIn("google", "ada")
        #expect(try await service.link("apple", subject: "ada", by: person).status == 200)
        return try await service.enrol(person)
    }

    /// A change that needs a recent second factor.
    private func change(by person: Person) async throws -> String {
        try await service.send(
            "POST", "/v1/account/recovery-codes", token: person.accessToken
        ).summary
    }

    @Test func `a listed method opens the session, and only where the provider lists it`()
        async throws
    {
        let ada = try await enrol()
        let person = try await service.signIn("google", "ada", claims: claims())
        #expect(person.userID == ada.person.userID)
        #expect(person.methods == ["fed", "fed_mfa", "mfa"])
        let refreshed = try Person(await service.refresh(person.refreshToken))
        #expect(refreshed.methods == ["fed", "fed_mfa", "mfa"])
        for claims in [
            claims(nil), claims(#"["pwd","otp"]"#), claims(#""mfa""#), claims("[]"),
            ["amr": #"["mfa"]"#],
        ] {
            let token = service.idToken("google", "ada", claims: claims)
            #expect(
                try await service.postSignIn("google", token).summary
                    == "403 SECOND_FACTOR_REQUIRED", "\(claims)")
        }
        let apple = service.idToken("apple", "ada", claims: claims())
        #expect(
            try await service.postSignIn("apple", apple).summary == "403 SECOND_FACTOR_REQUIRED")
        // The same provider without the setting.
        let without = try service.restarted { $0.secondFactorMethods = [:] }
        let google = service.idToken("google", "ada", claims: claims())
        #expect(
            try await without.postSignIn("google", google).summary == "403 SECOND_FACTOR_REQUIRED")
    }

    @Test func `a protected change takes it for ten minutes from its use at the issuer`()
        async throws
    {
        _ = try await enrol()
        let fresh = try await service.signIn("google", "ada", claims: claims())
        #expect(try await change(by: fresh) == "200 OK")
        let old = try await service.signIn("google", "ada", claims: claims(before: 601))
        #expect(old.methods == ["fed", "fed_mfa", "mfa"])
        #expect(try await change(by: old) == "403 REAUTHENTICATION_REQUIRED")
        let older = try await service.signIn("google", "ada", claims: claims(before: 300))
        #expect(try await change(by: older) == "200 OK")
        // Ten minutes after the factor, and half of that after the sign-in.
        service.clock.advance(seconds: 301)
        #expect(try await change(by: older) == "403 REAUTHENTICATION_REQUIRED")
        #expect(try await change(by: fresh) == "200 OK")
    }

    @Test func `a code of the account's own factor counts from the sign-in, as ever`() async throws
    {
        let ada = try await enrol()
        let token = service.idToken("google", "ada", claims: claims(nil, before: 3_000))
        let person = try Person(
            await service.finish(
                await service.postSignIn("google", token), ada.factor,
                ada.app.code(at: service.clock.now.seconds)))
        #expect(person.methods == ["fed", "mfa", "otp"])
        #expect(try await change(by: person) == "200 OK")
    }

    @Test func `the first factor of an account counts from its own session`() async throws {
        let person = try await service.signIn("google", "ada", claims: claims(before: 590))
        #expect(person.isNew && person.methods == ["fed", "fed_mfa", "mfa"])
        let ada = try await service.enrol(person)
        #expect(ada.person.methods == ["fed", "mfa", "otp"])
        #expect(try await change(by: ada.person) == "200 OK")
    }
}
