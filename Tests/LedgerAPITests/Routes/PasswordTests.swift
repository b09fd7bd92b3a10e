import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Passwords: sign-up, sign-in, link, change and reset.
@Suite(.overBothTransports) struct PasswordTests {
    private static let password = "correct horse battery staple"
    private static let other = "incorrect horse battery staple"
    private static let ada = "ada@example.com"

    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.passwords = PasswordRule(
                lengthMin: 8, blocklist: PasswordBlocklist(lines: Array("password1\n".utf8)))
            $0.codes = [.email]
            change(&$0)
        }
    }

    private func credential(_ address: String = ada, _ password: String = password) -> String {
        "{\"email\":\"\(address)\",\"password\":\"\(password)\"}"
    }

    private func begin(
        _ service: TestService, _ address: String = ada, _ password: String = password
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-up/password", credential(address, password))
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(
        _ answer: Answer, _ service: TestService, _ rest: String = ""
    ) throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
    }

    private func signIn(
        _ service: TestService, _ body: String, from client: String? = nil
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-in/password", body,
            headers: client.map { [("X-Forwarded-For", $0)] } ?? [])
    }

    private func signUp(_ service: TestService, _ address: String = ada) async throws -> Person {
        let answer = try await begin(service, address)
        #expect(answer.status == 200)
        return try Person(await signIn(service, code(answer, service)))
    }

    private func reset(_ service: TestService, _ address: String = ada) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/password-resets/password", "{\"email\":\"\(address)\"}")
    }

    private func complete(_ service: TestService, _ body: String) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/password-resets/password/complete", body)
    }

    @Test func `a sign-up is finished with the password again, too`() async throws {
        let service = try service()
        let begun = try await begin(service)
        let body = try code(begun, service, ",\"password\":\"\(Self.password)\"")
        let opened = try Person(await signIn(service, body))
        #expect(opened.isNew && opened.providers == ["password"])
    }

    @Test func `a code finishes a sign-up, and the password signs in`() async throws {
        let service = try service()
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
        let ada = try await signUp(service)
        #expect(ada.isNew && ada.providers == ["password"])
        #expect(
            service.ledger.events().map(\.name).suffix(5) == [
                .accountOpened, .providerLinked, .addressConfirmed, .passwordSet, .signedIn,
            ])
        let again = try Person(await signIn(service, credential("ADA@example.com")))
        #expect(again.userID == ada.userID && !again.isNew)
        #expect(
            try await signIn(service, credential(Self.ada, Self.other)).code == "INVALID_PASSWORD")
        #expect(
            try await signIn(service, credential("bob@example.com")).code == "INVALID_PASSWORD")
    }

    @Test func `nothing is appended before the confirmation`() async throws {
        let service = try service()
        let count = service.ledger.events().count
        _ = try await begin(service)
        #expect(service.ledger.events().count == count)
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
    }

    @Test func `a stranger's sign-up with a taken address tells its holder, and opens nothing`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service)
        let answer = try await begin(service, Self.ada, Self.other)
        #expect(answer.status == 200)
        #expect(service.challenges.sent.last?.message.purpose == .addressKnown)
        #expect(try await signIn(service, code(answer, service)).code == "INVALID_CODE")
        #expect(
            try await signIn(service, credential(Self.ada, Self.other)).code == "INVALID_PASSWORD")
        #expect(try Person(await signIn(service, credential())).userID == ada.userID)
    }

    @Test func `of two sign-ups of one address, the first to confirm has it`() async throws {
        let service = try service()
        let first = try await begin(service)
        let firstCode = try code(first, service)
        let second = try await begin(service, Self.ada, Self.other)
        let secondCode = try code(second, service)
        #expect(try await signIn(service, secondCode).status == 200)
        #expect(try await signIn(service, firstCode).code == "INVALID_CODE")
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
        #expect(try await signIn(service, credential(Self.ada, Self.other)).status == 200)
    }

    @Test(arguments: [
        ("short", "8"), ("password1", nil), ("PASSWORD1", nil), ("with\\u0007bell!", nil),
    ])
    func `a weak password is refused`(password: String, min: String?) async throws {
        let answer = try await begin(service(), Self.ada, password)
        #expect(answer.summary == "400 WEAK_PASSWORD")
        let details = answer.json["error"]?.members?["details"]?.members
        #expect(details?["length_min"]?.string == min)
    }

    @Test func `a password of more than 1,024 bytes is refused`() async throws {
        let long = String(repeating: "x", count: 1025)
        let service = try service()
        #expect(try await begin(service, Self.ada, long).code == "INVALID_REQUEST")
        #expect(try await signIn(service, credential(Self.ada, long)).code == "INVALID_REQUEST")
    }

    @Test func `a password is linked by a code, and unlinking removes it`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let sent = try await service.send(
            "POST", "/v1/account/codes/password", "{\"address\":\"\(Self.ada)\"}",
            token: ada.accessToken)
        let body = try code(sent, service, ",\"password\":\"\(Self.password)\"")
        let linked = try await service.send(
            "POST", "/v1/auth/link/password", body, token: ada.accessToken)
        #expect(linked.providers == ["google", "password"])
        #expect(try Person(await signIn(service, credential())).userID == ada.userID)
        #expect(try await service.unlink("password", by: ada).status == 200)
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
    }

    @Test func `an e-mail code and a password are two identities with one address`() async throws {
        let service = try service()
        let ada = try await signUp(service)
        let sent = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(Self.ada)\"}",
            token: ada.accessToken)
        let linked = try await service.send(
            "POST", "/v1/auth/link/email", code(sent, service), token: ada.accessToken)
        #expect(linked.providers == ["password", "email"])
        #expect(service.ledger.events().last?.name == .providerLinked)
        #expect(try await service.unlink("password", by: ada).status == 200)
        let asked = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"\(Self.ada)\"}")
        let back = try await service.send(
            "POST", "/v1/auth/sign-in/email", code(asked, service))
        #expect(try Person(back).userID == ada.userID)
    }

    @Test func `a reset ends all sessions and opens none`() async throws {
        let service = try service()
        let ada = try await signUp(service)
        let answer = try await reset(service)
        let body = try code(answer, service, ",\"password\":\"\(Self.other)\"")
        let done = try await complete(service, body)
        #expect(done.status == 200 && done.providers == ["password"])
        #expect(try await service.account(ada.accessToken).code == "INVALID_ACCESS_TOKEN")
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
        #expect(
            try Person(await signIn(service, credential(Self.ada, Self.other))).userID
                == ada.userID)
        #expect(try await complete(service, body).code == "INVALID_CODE")
    }

    @Test func `a reset ends the other challenges of the address`() async throws {
        let service = try service()
        _ = try await signUp(service)
        let early = try code(
            try await reset(service), service, ",\"password\":\"\(Self.password)\"")
        let late = try code(try await reset(service), service, ",\"password\":\"\(Self.other)\"")
        #expect(try await complete(service, late).status == 200)
        #expect(try await complete(service, early).code == "INVALID_CODE")
    }

    @Test func `an unknown address is mailed no reset, and gets the same answer`() async throws {
        let service = try service()
        _ = try await signUp(service)
        let known = try await reset(service)
        let count = service.challenges.sent.count
        let unknown = try await reset(service, "bob@example.com")
        #expect(service.challenges.sent.count == count)
        #expect(known.status == unknown.status)
        #expect(Set(known.json.keys) == Set(unknown.json.keys))
        // A code of six digits does not sign in.
        #expect(try await signIn(service, code(known, service)).code == "INVALID_CODE")
    }

    @Test func `a change wants the password or a recent sign-in, and ends every session`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service)
        let device = try Person(await signIn(service, credential()))
        service.clock.advance(seconds: 601)
        let fresh = try Person(await service.refresh(ada.refreshToken))
        func change(_ body: String) async throws -> Answer {
            try await service.send(
                "POST", "/v1/account/password", body, token: fresh.accessToken)
        }
        let new = "\"password\":\"\(Self.other)\""
        #expect(try await change("{\(new)}").code == "REAUTHENTICATION_REQUIRED")
        let wrong = "\"email\":\"\(Self.ada)\",\"current_password\":\"\(Self.other)\""
        #expect(try await change("{\(new),\(wrong)}").code == "INVALID_PASSWORD")
        let right = "\"email\":\"\(Self.ada)\",\"current_password\":\"\(Self.password)\""
        let changed = try Person(await change("{\(new),\(right)}"))
        #expect(changed.userID == ada.userID)
        #expect(try await service.account(changed.accessToken).status == 200)
        for token in [fresh.accessToken, device.accessToken] {
            #expect(try await service.account(token).code == "INVALID_ACCESS_TOKEN")
        }
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
        #expect(try await signIn(service, credential(Self.ada, Self.other)).status == 200)
    }

    @Test func `another account's password changes nothing`() async throws {
        let service = try service()
        let ada = try await signUp(service)
        _ = try await signUp(service, "bob@example.com")
        service.clock.advance(seconds: 601)
        let fresh = try Person(await service.refresh(ada.refreshToken))
        let answer = try await service.send(
            "POST", "/v1/account/password",
            """
            {"password":"\(Self.other)","email":"bob@example.com","current_password":"\(Self.password)"}
            """, token: fresh.accessToken)
        #expect(answer.code == "INVALID_PASSWORD")
    }

    @Test func `neither a password nor its hash is in the log`() async throws {
        let service = try service()
        _ = try await signUp(service)
        for recording in service.ledger.recordings() {
            let text = String(decoding: recording.entry, as: UTF8.self)
            #expect(!text.contains("argon2") && !text.contains("horse"))
            #expect(
                !recording.disclosed.contains {
                    $0.value.contains("argon2") || $0.value.contains("horse")
                })
        }
    }
}
