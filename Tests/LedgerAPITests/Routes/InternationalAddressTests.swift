import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// E-mail addresses whose local parts have other characters than ASCII.
@Suite(.overBothTransports) struct InternationalAddressTests {
    private static let password = "correct horse battery staple"
    private static let jose = "jos\u{E9}@example.com"
    private static let mary = "\u{43C}\u{430}\u{440}\u{438}\u{44F}@example.com"

    private func service(_ localParts: EmailLocalParts = .any) throws -> TestService {
        try TestService {
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.codes = [.email]
            $0.localParts = localParts
        }
    }

    private func credential(_ address: String, _ password: String = password) -> String {
        "{\"email\":\"\(address)\",\"password\":\"\(password)\"}"
    }

    private func signIn(
        _ service: TestService, _ body: String, at provider: String = "password"
    ) async throws -> Answer {
        try await service.send("POST", "/v1/auth/sign-in/\(provider)", body)
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(_ answer: Answer, _ service: TestService) throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
    }

    private func signUp(
        _ service: TestService, _ address: String, _ password: String = password
    ) async throws -> Person {
        let begun = try await service.send(
            "POST", "/v1/auth/sign-up/password", credential(address, password))
        return try Person(await signIn(service, code(begun, service)))
    }

    @Test func `the spellings of one text are one address, and mail goes to its NFC`()
        async throws
    {
        let service = try service()
        let jose = try await signUp(service, "jose\u{301}@Example.COM")
        #expect(jose.isNew)
        let sent = try #require(service.challenges.sent.last?.address)
        #expect(Array(sent.utf8) == Array(Self.jose.utf8))
        for spelling in [Self.jose, "jose\u{301}@example.com"] {
            let again = try Person(await signIn(service, credential(spelling)))
            #expect(again.userID == jose.userID && !again.isNew)
        }
        // Where a letter is outside ASCII, the case of every letter counts.
        for other in ["Jos\u{E9}@example.com", "jos\u{C9}@example.com", "jose@example.com"] {
            #expect(try await signIn(service, credential(other)).code == "INVALID_PASSWORD")
        }
    }

    @Test func `a code signs up and signs in`() async throws {
        let service = try service()
        var people: [Person] = []
        for _ in 0..<2 {
            let asked = try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"\(Self.mary)\"}")
            people.append(
                try Person(await signIn(service, code(asked, service), at: "email")))
        }
        #expect(people.map(\.isNew) == [true, false])
        #expect(people[0].userID == people[1].userID)
    }

    @Test(arguments: [
        // Latin letters among the Cyrillic ones.
        "\u{43C}a\u{440}\u{438}\u{44F}@example.com", "\u{43C}\u{430}p\u{438}\u{44F}@example.com",
        "\u{FF2D}\u{430}\u{440}\u{438}\u{44F}@example.com",
    ])
    func `an address that looks alike is another identity`(other: String) async throws {
        let service = try service()
        let mary = try await signUp(service, Self.mary)
        #expect(try await signIn(service, credential(other)).code == "INVALID_PASSWORD")
        let thief = try await signUp(service, other, "another password")
        #expect(thief.isNew && thief.userID != mary.userID)
        let again = try Person(await signIn(service, credential(Self.mary)))
        #expect(again.userID == mary.userID)
    }

    @Test(arguments: [
        "jos\u{E9}\u{200B}@example.com", "jos\u{202E}\u{E9}@example.com",
        "\u{301}jos\u{E9}@example.com", "jos\u{E9}\u{E000}@example.com",
    ])
    func `invisible characters and marks alone are in no address`(address: String) async throws {
        let answer = try await service().send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"\(address)\"}")
        #expect(answer.summary == "400 INVALID_REQUEST")
    }

    @Test func `a tenant without the setting refuses them, also to an account that has one`()
        async throws
    {
        let service = try service()
        _ = try await signUp(service, Self.jose)
        let plain = try service.restarted { $0.localParts = .ascii }
        let requests = [
            ("/v1/auth/codes/email", "{\"address\":\"\(Self.jose)\"}"),
            ("/v1/auth/sign-up/password", credential(Self.jose)),
            ("/v1/auth/password-resets/password", "{\"email\":\"\(Self.jose)\"}"),
        ]
        for (path, body) in requests {
            #expect(try await plain.send("POST", path, body).summary == "400 INVALID_REQUEST")
        }
        #expect(try await signIn(plain, credential(Self.jose)).code == "INVALID_PASSWORD")
        #expect(try await signUp(plain, "jose@example.com").isNew)
    }
}
