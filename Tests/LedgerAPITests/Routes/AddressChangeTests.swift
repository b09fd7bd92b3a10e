import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Changes of addresses, and their return.
@Suite(.overBothTransports) struct AddressChangeTests {
    private static let ada = "ada@example.com"
    private static let new = "new@example.com"
    private static let password = "correct horse battery staple"

    private func service() throws -> TestService {
        try TestService {
            $0.passwords = PasswordRule(lengthMin: 8, blocklist: .empty)
            $0.codes = [.email, .phone]
        }
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(
        _ answer: Answer, _ service: TestService, _ rest: String = ""
    ) throws -> String {
        let challenge = try #require(answer.text("challenge_id"), "\(answer)")
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
    }

    private func signIn(_ service: TestService, _ address: String) async throws -> Answer {
        let sent = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"\(address)\"}")
        return try await service.send(
            "POST", "/v1/auth/sign-in/email", code(sent, service, ",\"create_account\":false"))
    }

    private func signIn(
        _ service: TestService, _ address: String, password: String
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-in/password",
            "{\"email\":\"\(address)\",\"password\":\"\(password)\"}")
    }

    private func signUp(_ service: TestService, _ type: String) async throws -> Person {
        switch type {
        case "email":
            let sent = try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"\(Self.ada)\"}")
            return try Person(
                await service.send("POST", "/v1/auth/sign-in/email", code(sent, service)))
        default:
            let sent = try await service.send(
                "POST", "/v1/auth/sign-up/password",
                "{\"email\":\"\(Self.ada)\",\"password\":\"\(Self.password)\"}")
            return try Person(
                await service.send("POST", "/v1/auth/sign-in/password", code(sent, service)))
        }
    }

    private func sendChange(
        _ service: TestService, _ type: String, by person: Person, to address: String = new
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/account/codes/\(type)", "{\"address\":\"\(address)\",\"change\":true}",
            token: person.accessToken)
    }

    private func change(
        _ service: TestService, _ type: String, by person: Person, from: String = ada,
        to address: String = new, _ rest: String = ""
    ) async throws -> Answer {
        let sent = try await sendChange(service, type, by: person, to: address)
        return try await service.send(
            "POST", "/v1/account/addresses/\(type)",
            code(sent, service, ",\"current_address\":\"\(from)\"\(rest)"),
            token: person.accessToken)
    }

    private func beginReturn(
        _ service: TestService, _ type: String, _ address: String = ada
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/address-returns/\(type)", "{\"address\":\"\(address)\"}")
    }

    private func complete(
        _ service: TestService, _ type: String, _ body: String
    ) async throws -> Answer {
        try await service.send("POST", "/v1/auth/address-returns/\(type)/complete", body)
    }

    @Test func `the new address signs in with the same password, and the former one does not`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service, "password")
        let identity = try await service.account(ada.accessToken).json["identities"]
        let changed = try Person(await change(service, "password", by: ada))
        #expect(changed.userID == ada.userID && changed.providers == ["password"])
        #expect(try await service.account(ada.accessToken).code == "INVALID_ACCESS_TOKEN")
        let now = try await service.account(changed.accessToken).json["identities"]
        #expect(
            now?.array?.first?.members?["identity_id"]
                == identity?.array?.first?.members?["identity_id"])
        let back = try await signIn(service, Self.new, password: Self.password)
        #expect(try Person(back).userID == ada.userID)
        #expect(
            try await signIn(service, Self.ada, password: Self.password).code
                == "INVALID_PASSWORD")
        #expect(try await signIn(service, Self.ada).code == "ACCOUNT_NOT_FOUND")
    }

    @Test func `a password and a code of one address change together`() async throws {
        let service = try service()
        let ada = try await signUp(service, "password")
        let sent = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(Self.ada)\"}",
            token: ada.accessToken)
        let linked = try await service.send(
            "POST", "/v1/auth/link/email", code(sent, service), token: ada.accessToken)
        #expect(linked.status == 200)
        _ = try Person(await change(service, "email", by: ada))
        #expect(try Person(await signIn(service, Self.new)).userID == ada.userID)
        let back = try await signIn(service, Self.new, password: Self.password)
        #expect(try Person(back).userID == ada.userID)
    }

    @Test func `without a recent sign-in a change needs the password`() async throws {
        let service = try service()
        var ada = try await signUp(service, "password")
        service.clock.advance(seconds: 601)
        ada = try Person(await service.refresh(ada.refreshToken))
        #expect(
            try await change(service, "password", by: ada).summary
                == "403 REAUTHENTICATION_REQUIRED")
        let wrong = ",\"current_password\":\"incorrect horse\""
        #expect(
            try await change(service, "password", by: ada, wrong).code == "INVALID_PASSWORD")
        let right = ",\"current_password\":\"\(Self.password)\""
        #expect(try await change(service, "password", by: ada, right).status == 200)
    }

    @Test func `the code of a change does nothing else, and no other code changes`() async throws {
        let service = try service()
        let ada = try await signUp(service, "email")
        let sent = try await sendChange(service, "email", by: ada)
        let body = try code(sent, service)
        #expect(
            try await service.send("POST", "/v1/auth/sign-in/email", body).code == "INVALID_CODE")
        #expect(
            try await service.send(
                "POST", "/v1/auth/link/email", body, token: ada.accessToken
            ).code == "INVALID_CODE")
        let other = try code(sent, service, ",\"password\":\"\(Self.password)\"")
        #expect(try await complete(service, "email", other).code == "INVALID_CODE")
        let link = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(Self.new)\"}",
            token: ada.accessToken)
        #expect(
            try await service.send(
                "POST", "/v1/account/addresses/email",
                code(link, service, ",\"current_address\":\"\(Self.ada)\""),
                token: ada.accessToken
            ).code == "INVALID_CODE")
        // A sign-up waits with the hash of a password, and is no change either.
        let signUp = try await service.send(
            "POST", "/v1/auth/sign-up/password",
            "{\"email\":\"\(Self.new)\",\"password\":\"\(Self.password)\"}")
        #expect(
            try await service.send(
                "POST", "/v1/account/addresses/password",
                code(signUp, service, ",\"current_address\":\"\(Self.ada)\""),
                token: ada.accessToken
            ).code == "INVALID_CODE")
        let more = try await sendChange(service, "password", by: ada)
        #expect(
            try await service.send("POST", "/v1/auth/sign-in/password", code(more, service)).code
                == "INVALID_CODE")
    }

    @Test func `a change by another session, or to another account's address, is refused`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service, "email")
        let bob = try await service.signIn("google", "bob")
        let sent = try await sendChange(service, "email", by: ada)
        let body = try code(sent, service, ",\"current_address\":\"\(Self.ada)\"")
        #expect(
            try await service.send(
                "POST", "/v1/account/addresses/email", body, token: bob.accessToken
            ).code == "INVALID_CODE")
        #expect(
            try await change(service, "email", by: bob, to: "bob@example.com").summary
                == "404 PROVIDER_NOT_LINKED")
        let link = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"bob@example.com\"}",
            token: bob.accessToken)
        _ = try await service.send(
            "POST", "/v1/auth/link/email", code(link, service), token: bob.accessToken)
        #expect(
            try await change(service, "email", by: ada, to: "bob@example.com").summary
                == "409 PROVIDER_CONFLICT")
    }

    @Test func `the former address is taken back with a new password`() async throws {
        let service = try service()
        let ada = try await signUp(service, "password")
        let thief = try Person(await change(service, "password", by: ada))
        let sent = try await beginReturn(service, "password")
        #expect(service.challenges.sent.last?.message.purpose == .address)
        #expect(
            try await complete(service, "password", code(sent, service)).code
                == "INVALID_REQUEST")
        let weak = try code(sent, service, ",\"password\":\"short\"")
        #expect(try await complete(service, "password", weak).code == "WEAK_PASSWORD")
        let body = try code(sent, service, ",\"password\":\"another good password\"")
        let returned = try await complete(service, "password", body)
        #expect(returned.status == 200 && returned.providers == ["password"])
        #expect(try await complete(service, "password", body).code == "INVALID_CODE")
        #expect(try await service.account(thief.accessToken).code == "INVALID_ACCESS_TOKEN")
        #expect(
            try await signIn(service, Self.new, password: Self.password).code
                == "INVALID_PASSWORD")
        #expect(
            try await signIn(service, Self.ada, password: Self.password).code
                == "INVALID_PASSWORD")
        let back = try await signIn(service, Self.ada, password: "another good password")
        #expect(try Person(back).userID == ada.userID)
    }

    @Test func `a return by a code replaces the password of the same address`() async throws {
        let service = try service()
        let ada = try await signUp(service, "password")
        let sent = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(Self.ada)\"}",
            token: ada.accessToken)
        _ = try await service.send(
            "POST", "/v1/auth/link/email", code(sent, service), token: ada.accessToken)
        let current = ",\"current_password\":\"\(Self.password)\""
        _ = try Person(await change(service, "email", by: ada, current))
        let begun = try await beginReturn(service, "email")
        #expect(
            try await complete(service, "email", code(begun, service)).code == "INVALID_REQUEST")
        let body = try code(begun, service, ",\"password\":\"another good password\"")
        #expect(try await complete(service, "email", body).status == 200)
        #expect(
            try await signIn(service, Self.ada, password: Self.password).code
                == "INVALID_PASSWORD")
        let back = try await signIn(service, Self.ada, password: "another good password")
        #expect(try Person(back).userID == ada.userID)
    }

    @Test func `strangers don't use up the codes of a return by a known device`() async throws {
        let service = try service()
        let ada = try await signUp(service, "email")
        let token = try #require(
            try await signIn(service, Self.ada).text("device_token"))
        _ = try Person(await change(service, "email", by: ada))
        for _ in 1...AddressCodes.sendsPerAddress { _ = try await beginReturn(service, "email") }
        #expect(try await beginReturn(service, "email").code == "RATE_LIMITED")
        let known = try await service.send(
            "POST", "/v1/auth/address-returns/email",
            "{\"address\":\"\(Self.ada)\",\"device_token\":\"\(token)\"}")
        #expect(known.status == 200)
    }

    @Test func `an address that can't be taken back gets the same answer and no message`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service, "email")
        func isSent(_ type: String, _ address: String = Self.ada) async throws -> Bool {
            let count = service.challenges.sent.count
            let answer = try await beginReturn(service, type, address)
            #expect(answer.status == 200 && answer.text("challenge_id") != nil)
            #expect(answer.json["expires_in"]?.number == 600)
            return service.challenges.sent.count > count
        }
        #expect(try await !isSent("email"))
        #expect(try await !isSent("email", "unknown@example.com"))
        _ = try Person(await change(service, "email", by: ada))
        #expect(try await isSent("email"))
        #expect(try await !isSent("email", Self.new))
        // The account is not signed in to with a password.
        #expect(try await !isSent("password"))
        service.clock.advance(seconds: HeldAddress.keptSeconds + 1)
        #expect(try await !isSent("email"))
    }

    @Test func `a device that changes an address is known to the new one`() async throws {
        let service = try service()
        let ada = try await signUp(service, "email")
        let changed = try await change(service, "email", by: ada)
        let token = try #require(changed.text("device_token"))
        for _ in 1...AddressCodes.sendsPerAddress {
            _ = try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"\(Self.new)\"}")
        }
        #expect(
            try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"\(Self.new)\"}"
            ).code == "RATE_LIMITED")
        #expect(
            try await service.send(
                "POST", "/v1/auth/codes/email",
                "{\"address\":\"\(Self.new)\",\"device_token\":\"\(token)\"}"
            ).status == 200)
    }

    @Test func `a device that changes an address stays known to others`() async throws {
        let service = try service()
        let ada = try await signUp(service, "email")
        let former = try #require(try await signIn(service, Self.ada).text("device_token"))
        let changed = try await change(
            service, "email", by: ada, ",\"device_token\":\"\(former)\"")
        let token = try #require(changed.text("device_token"))
        for _ in 1...AddressCodes.sendsPerAddress { _ = try await beginReturn(service, "email") }
        let known = try await service.send(
            "POST", "/v1/auth/address-returns/email",
            "{\"address\":\"\(Self.ada)\",\"device_token\":\"\(token)\"}")
        #expect(known.status == 200)
    }

    @Test func `a phone number changes with a code`() async throws {
        let service = try service()
        let numbers = ["+4915112345678", "+4915112345679"]
        let sent = try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(numbers[0])\"}")
        let ada = try Person(
            await service.send("POST", "/v1/auth/sign-in/phone", code(sent, service)))
        let changed = try await change(
            service, "phone", by: ada, from: numbers[0], to: numbers[1])
        #expect(try Person(changed).userID == ada.userID)
        let password = ",\"current_password\":\"\(Self.password)\""
        #expect(
            try await change(
                service, "phone", by: try Person(changed), from: numbers[1], to: numbers[0],
                password
            ).summary == "400 INVALID_REQUEST")
    }

    @Test func `a number of a country to which no messages go any more changes`() async throws {
        var service = try service()
        let former = "+4915112345678"
        let sent = try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(former)\"}")
        let ada = try Person(
            await service.send("POST", "/v1/auth/sign-in/phone", code(sent, service)))
        service = try service.restarted { $0.smsCountries = ["FR"] }
        let changed = try await change(
            service, "phone", by: ada, from: former, to: "+33612345678")
        #expect(try Person(changed).userID == ada.userID)
    }

    @Test(arguments: ["google", "unknown"])
    func `a provider without addresses changes none`(provider: String) async throws {
        let service = try service()
        let ada = try await signUp(service, "email")
        #expect(
            try await service.send(
                "POST", "/v1/account/addresses/\(provider)",
                "{\"current_address\":\"\(Self.ada)\",\"challenge_id\":\"1\",\"code\":\"1\"}",
                token: ada.accessToken
            ).code == "UNSUPPORTED_PROVIDER")
        #expect(try await beginReturn(service, provider).code == "UNSUPPORTED_PROVIDER")
        #expect(
            try await complete(
                service, provider, "{\"challenge_id\":\"1\",\"code\":\"1\"}"
            ).code == "UNSUPPORTED_PROVIDER")
    }
}
