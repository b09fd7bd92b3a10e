import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Sign-ups and links with a password whose address is confirmed later.
@Suite(.overBothTransports) struct PasswordClaimTests {
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
            $0.confirmLater = true
            change(&$0)
        }
    }

    private func credential(_ address: String = ada, _ password: String = password) -> String {
        "{\"email\":\"\(address)\",\"password\":\"\(password)\"}"
    }

    private func signUp(
        _ service: TestService, _ address: String = ada, _ password: String = password,
        from client: String? = nil
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-up/password", credential(address, password),
            headers: client.map { [("X-Forwarded-For", $0)] } ?? [])
    }

    private func signIn(
        _ service: TestService, _ body: String, at provider: String = "password"
    ) async throws -> Answer {
        try await service.send("POST", "/v1/auth/sign-in/\(provider)", body)
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(
        _ answer: Answer, _ service: TestService, _ rest: String = ""
    ) throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
    }

    /// Opens an account that claims an address.
    private func opened(_ service: TestService, _ address: String = ada) async throws -> Person {
        let answer = try await signUp(service, address)
        try #require(answer.status == 201, "\(answer.body)")
        return try Person(answer.json)
    }

    /// Signs in with a code that is sent to an address.
    private func byCode(_ service: TestService, _ address: String = ada) async throws -> Answer {
        let sent = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"\(address)\"}")
        return try await signIn(service, code(sent, service), at: "email")
    }

    private func link(
        _ service: TestService, _ person: Person, _ body: String, key: String? = nil
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/link/password", body, token: person.accessToken,
            headers: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    /// Whether the account shows the e-mail of its password as verified.
    private func isVerified(_ service: TestService, _ person: Person) async throws -> Bool? {
        let account = try await service.account(person.accessToken)
        let identity = account.json["identities"]?.array?.last?.members
        return identity?["email_verified"].map { $0 == .bool(true) }
    }

    @Test func `a sign-up opens the account at once, and its code confirms the address`()
        async throws
    {
        let service = try service()
        let answer = try await signUp(service)
        #expect(answer.status == 201)
        let ada = try Person(answer.json)
        #expect(ada.isNew && ada.providers == ["password"] && ada.methods == ["pwd"])
        #expect(answer.text("device_token") == nil)
        #expect(service.challenges.sent.last?.message.purpose == .signUp)
        #expect(try await isVerified(service, ada) == false)
        let confirmed = try await signIn(service, code(answer, service))
        #expect(try Person(confirmed).userID == ada.userID)
        #expect(confirmed.text("device_token") != nil)
        #expect(
            service.ledger.events().suffix(2).map(\.name) == [.addressConfirmed, .signedIn])
        #expect(try await isVerified(service, ada) == true)
        #expect(try await service.account(ada.accessToken).status == 200)
    }

    @Test func `a claimed address signs in with its password alone`() async throws {
        let service = try service()
        let ada = try await opened(service)
        let again = try await signIn(service, credential())
        #expect(try Person(again).userID == ada.userID)
        #expect(again.text("device_token") == nil)
        let changed = try await service.send(
            "POST", "/v1/account/password",
            "{\"password\":\"\(Self.password)\",\"email\":\"\(Self.ada)\","
                + "\"current_password\":\"\(Self.password)\"}", token: try Person(again).accessToken
        )
        #expect(changed.status == 200 && changed.text("device_token") == nil, "\(changed.body)")
        let count = service.challenges.sent.count
        let reset = try await service.send(
            "POST", "/v1/auth/password-resets/password", "{\"email\":\"\(Self.ada)\"}")
        #expect(reset.status == 200 && service.challenges.sent.count == count)
    }

    @Test func `a further sign-up with the password sends another code, which confirms`()
        async throws
    {
        let service = try service()
        let ada = try await opened(service)
        let again = try await signUp(service)
        #expect(again.status == 200 && again.text("access_token") == nil)
        #expect(service.challenges.sent.last?.message.purpose == .signUp)
        let confirmed = try await signIn(service, code(again, service))
        #expect(try Person(confirmed).userID == ada.userID)
        #expect(try await service.account(ada.accessToken).status == 200)
        #expect(try await signIn(service, credential()).status == 200)
    }

    @Test func `a sign-up with another password takes over what is nothing but the claim`()
        async throws
    {
        let service = try service()
        let mallory = try await opened(service)
        let answer = try await signUp(service, Self.ada, Self.other)
        #expect(answer.status == 200)
        let ada = try Person(await signIn(service, code(answer, service)))
        #expect(ada.userID == mallory.userID && !ada.isNew)
        #expect(try await service.account(mallory.accessToken).code == "INVALID_ACCESS_TOKEN")
        #expect(try await service.refresh(mallory.refreshToken).status == 401)
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
        #expect(try await signIn(service, credential(Self.ada, Self.other)).status == 200)
    }

    @Test func `the holder's own code is void after another person's proof`() async throws {
        let service = try service()
        let answer = try await signUp(service)
        let late = try code(answer, service)
        let ada = try Person(await byCode(service))
        #expect(ada.providers == ["email"])
        #expect(try await signIn(service, late).code == "INVALID_CODE")
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
    }

    @Test func `a taken address is answered alike, whether it is claimed or confirmed`()
        async throws
    {
        let service = try service()
        _ = try await opened(service)
        let bob = try await signUp(service, "bob@example.com")
        _ = try Person(await signIn(service, code(bob, service)))
        let claimed = try await signUp(service, Self.ada, Self.other)
        let confirmed = try await signUp(service, "bob@example.com", Self.other)
        #expect(claimed.status == 200 && confirmed.status == 200)
        #expect(Set(claimed.json.keys) == Set(confirmed.json.keys))
        #expect(service.challenges.sent.last?.message.purpose == .addressKnown)
        #expect(try await signIn(service, code(confirmed, service)).code == "INVALID_CODE")
    }

    @Test func `a password with an address that the account has proved is verified`() async throws {
        let service = try service()
        let ada = try Person(await byCode(service))
        let linked = try await link(service, ada, credential())
        #expect(linked.status == 200 && linked.providers == ["email", "password"])
        #expect(try await isVerified(service, ada) == true)
    }

    @Test func `a link that is repeated with its key sends one code`() async throws {
        let service = try service()
        let bob = try await service.signIn("google", "bob")
        let linked = try await link(service, bob, credential(), key: "link-1")
        #expect(linked.status == 200)
        let sent = service.challenges.sent.count
        for _ in 0..<6 {
            let again = try await link(service, bob, credential(), key: "link-1")
            #expect(again.body == linked.body)
        }
        #expect(service.challenges.sent.count == sent)
        let confirmed = try await signIn(service, code(linked, service))
        #expect(try Person(confirmed).userID == bob.userID)
    }

    @Test func `a link of a password is confirmed later`() async throws {
        let service = try service()
        let bob = try await service.signIn("google", "bob")
        let linked = try await link(service, bob, credential())
        #expect(linked.status == 200 && linked.providers == ["google", "password"])
        let events = service.ledger.events().suffix(3).map(\.name)
        #expect(events == [.providerLinked, .addressClaimed, .passwordSet])
        let confirmed = try await signIn(service, code(linked, service))
        #expect(try Person(confirmed).userID == bob.userID)
        #expect(service.ledger.events().suffix(2).first?.name == .addressConfirmed)
    }

    @Test func `a link with an address that the account has proved needs no code`() async throws {
        let service = try service()
        let ada = try Person(await byCode(service))
        let count = service.challenges.sent.count
        let linked = try await link(service, ada, credential())
        #expect(linked.status == 200 && linked.providers == ["email", "password"])
        #expect(linked.text("challenge_id") == nil && service.challenges.sent.count == count)
        #expect(try Person(await signIn(service, credential())).userID == ada.userID)
    }

    @Test func `a repeated link with the same key sends another code`() async throws {
        let service = try service()
        let bob = try await service.signIn("google", "bob")
        func repeated() async throws -> Answer {
            try await service.send(
                "POST", "/v1/auth/link/password", credential(), token: bob.accessToken,
                headers: [("Idempotency-Key", "\"one\"")])
        }
        #expect(try await repeated().status == 200)
        let count = service.ledger.events().count
        let again = try await repeated()
        #expect(again.status == 200 && service.ledger.events().count == count)
        #expect(try Person(await signIn(service, code(again, service))).userID == bob.userID)
    }

    @Test func `a proof ends the claim of an account with other ways`() async throws {
        let service = try service()
        let bob = try await service.signIn("google", "bob")
        _ = try await link(service, bob, credential())
        let ada = try Person(await byCode(service))
        #expect(ada.userID != bob.userID && ada.isNew)
        let account = try await service.account(bob.accessToken)
        #expect(account.providers == ["google"])
        #expect(try await signIn(service, credential()).code == "INVALID_PASSWORD")
    }

    @Test(arguments: [ada, "bob@example.com"])
    func `a link with a taken address is refused, and tells its holder nothing`(
        address: String
    ) async throws {
        let service = try service()
        _ = try await opened(service)
        _ = try await byCode(service, "bob@example.com")
        let eve = try await service.signIn("google", "eve")
        let count = service.ledger.events().count
        let sent = service.challenges.sent.count
        let answer = try await link(service, eve, credential(address, Self.other))
        #expect(answer.summary == "409 PROVIDER_CONFLICT")
        #expect(service.ledger.events().count == count && service.challenges.sent.count == sent)
    }

    @Test func `a weak password is refused, and a text that is no address`() async throws {
        let service = try service()
        #expect(try await signUp(service, Self.ada, "short").code == "WEAK_PASSWORD")
        #expect(try await signUp(service, "ada").code == "INVALID_REQUEST")
        let bob = try await service.signIn("google", "bob")
        #expect(
            try await link(service, bob, credential(Self.ada, "short")).code == "WEAK_PASSWORD")
        #expect(try await link(service, bob, credential("ada")).code == "INVALID_REQUEST")
        #expect(!service.ledger.events().map(\.name).contains(.addressClaimed))
    }

    @Test func `without the rule a link wants a code`() async throws {
        let service = try service { $0.confirmLater = false }
        let bob = try await service.signIn("google", "bob")
        #expect(try await link(service, bob, credential()).code == "INVALID_CODE")
    }

    @Test func `a network claims a bounded number of addresses`() async throws {
        let service = try service { $0.proxies = "127.0.0.1" }
        for number in 0..<30 {
            let answer = try await signUp(
                service, "person-\(number)@example.com", from: "203.0.113.9")
            #expect(answer.status == 201)
        }
        let count = service.ledger.events().count
        #expect(try await signUp(service, from: "203.0.113.9").code == "RATE_LIMITED")
        #expect(service.ledger.events().count == count)
        #expect(try await signUp(service, from: "203.0.113.10").status == 201)
    }

    @Test func `a link is repeated with its key also after the last claim of the network`()
        async throws
    {
        let service = try service()
        let bob = try await service.signIn("google", "bob")
        let linked = try await link(service, bob, credential(), key: "link-1")
        for number in 1...AddressCodes.sendsPerNetwork {
            _ = try await signUp(service, "person-\(number)@example.com")
        }
        let other = credential("new@example.com")
        #expect(try await link(service, bob, other).code == "RATE_LIMITED")
        let again = try await link(service, bob, credential(), key: "link-1")
        #expect(again.status == 200)
        #expect(linked.text("challenge_id") != nil && again.text("challenge_id") == nil)
    }

    @Test func `an account is open although its code can't be sent`() async throws {
        let service = try service()
        // The codes of the network are used up.
        for number in 0..<AddressCodes.sendsPerNetwork {
            _ = try await service.send(
                "POST", "/v1/auth/codes/email",
                "{\"address\":\"person-\(number)@example.com\"}")
        }
        let answer = try await signUp(service)
        #expect(answer.status == 201 && answer.text("challenge_id") == nil)
        #expect(try await signIn(service, credential()).status == 200)
    }

    @Test func `the activity shows when an address was claimed and confirmed`() async throws {
        let service = try service()
        let answer = try await signUp(service)
        _ = try await signIn(service, code(answer, service))
        let activity = try await service.send(
            "GET", "/v1/account/activity", token: Person(answer.json).accessToken)
        let kinds = activity.json["activity"]?.array?.compactMap { $0.members?["kind"]?.string }
        #expect(
            kinds == [
                "signed_in", "address_confirmed", "signed_in", "password_set", "address_claimed",
                "linked", "opened",
            ])
    }
}
