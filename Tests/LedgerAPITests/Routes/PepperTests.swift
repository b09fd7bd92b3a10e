import Cryptography
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Passwords whose hashes have a pepper.
@Suite(.overBothTransports) struct PepperTests {
    private static let ada = "ada@example.com"
    private static let keys = ["first": SymmetricKey.generate(), "second": SymmetricKey.generate()]

    private func peppers(_ ids: [String], current: String?) throws -> PasswordPeppers {
        try #require(
            PasswordPeppers(keys: Self.keys.filter { ids.contains($0.key) }, current: current))
    }

    private func signedUp() async throws -> TestService {
        let service = try TestService {
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.codes = [.email]
        }
        let begun = try await service.send("POST", "/v1/auth/sign-up/password", credential())
        let code = try #require(service.challenges.sent.last).message.code
        let challenge = try #require(begun.text("challenge_id"))
        let opened = try await service.send(
            "POST", "/v1/auth/sign-in/password",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}")
        #expect(opened.status == 200)
        return service
    }

    private func credential(_ password: String = "correct horse battery staple") -> String {
        "{\"email\":\"\(Self.ada)\",\"password\":\"\(password)\"}"
    }

    private func signIn(_ service: TestService, _ body: String) async throws -> Answer {
        try await service.send("POST", "/v1/auth/sign-in/password", body)
    }

    private func hash(_ service: TestService) async throws -> PasswordHash {
        let names = service.services.codes.names(of: Self.ada, .email, in: .default)
        let provider = try #require(ProviderName("password"))
        let stored = try await service.ledger.password(of: names, at: provider, in: .default)
        return try PasswordHash(try #require(stored).hash)
    }

    @Test func `a sign-in hashes the password again with the pepper in use`() async throws {
        let service = try await signedUp()
        #expect(try await hash(service).pepperID == nil)
        for id in ["first", "second"] {
            service.services.passwords.use(try peppers(["first", "second"], current: id))
            #expect(try await signIn(service, credential()).status == 200)
            // It is stored after the answer.
            while try await hash(service).pepperID != id { await Task.yield() }
            #expect(
                try await signIn(service, credential("wrong horse battery")).code
                    == "INVALID_PASSWORD")
        }
        service.services.passwords.use(try peppers(["second"], current: "second"))
        #expect(try await signIn(service, credential()).status == 200)
    }

    @Test func `a password whose pepper is missing is not wrong`() async throws {
        let service = try await signedUp()
        service.services.passwords.use(try peppers(["first"], current: "first"))
        #expect(try await signIn(service, credential()).status == 200)
        while try await hash(service).pepperID == nil { await Task.yield() }
        service.services.passwords.use(try peppers(["second"], current: "second"))
        for body in [credential(), credential("wrong horse battery")] {
            let answer = try await signIn(service, body)
            #expect(answer.status == 503 && answer.code == "UNAVAILABLE")
        }
        #expect(try await hash(service).pepperID == "first")
        service.services.passwords.use(try peppers(["first"], current: "first"))
        #expect(try await signIn(service, credential()).status == 200)
    }
}
