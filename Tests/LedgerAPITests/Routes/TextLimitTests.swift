import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// The limits of text messages: those of a tenant, and those of a range of numbers whose codes don't come back.
@Suite(.overBothTransports) struct TextLimitTests {
    /// The number of a person who signs in with it.
    private static let own = "+4915123450000"

    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.codes = [.email, .phone]
            $0.proxies = "127.0.0.1"
            change(&$0)
        }
    }

    /// Asks for a code, as one of few clients of a network.
    private func ask(
        _ service: TestService, _ number: String, from network: Int = 0, device: String? = nil
    ) async throws -> Answer {
        let member = device.map { ",\"device_token\":\"\($0)\"" } ?? ""
        return try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(number)\"\(member)}",
            headers: [("X-Forwarded-For", "198.51.100.\(network)")])
    }

    /// Asks for codes to different numbers of the range of ``own``, each from another network.
    private func pump(_ service: TestService, _ count: Int) async throws {
        for number in 1..<(count + 1) {
            let answer = try await ask(service, "+491512345\(1000 + number)", from: number)
            #expect(answer.status == 200)
        }
    }

    private func signIn(
        _ service: TestService, _ sent: Answer, _ code: String, _ member: String = ""
    ) async throws -> Answer {
        let challenge = try #require(sent.text("challenge_id"), "\(sent.body)")
        return try await service.send(
            "POST", "/v1/auth/sign-in/phone",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(member)}")
    }

    private func lastCode(_ service: TestService) throws -> String {
        try #require(service.challenges.sent.last).message.code
    }

    @Test func `a range of numbers gets no more codes when many have not come back`() async throws {
        let service = try service()
        let sent = try await ask(service, Self.own)
        let code = try lastCode(service)
        try await pump(service, AddressCodes.unansweredPerPrefix - 1)
        let refused = try await ask(service, "+4915123459999")
        #expect(refused.code == "RATE_LIMITED" && refused["Retry-After"] != nil)
        #expect(service.services.codes.refusals == [.prefix: 1])
        #expect(try await ask(service, "+4915123460000").status == 200, "another range")
        // A right code makes room for one, also if it is repeated.
        let unknown = try await signIn(service, sent, code, ",\"create_account\":false")
        #expect(unknown.code == "ACCOUNT_NOT_FOUND")
        #expect(try await signIn(service, sent, code).status == 200)
        #expect(try await ask(service, "+4915123459999").status == 200)
        #expect(try await ask(service, "+4915123459998").code == "RATE_LIMITED")
        service.clock.advance(seconds: 3601)
        #expect(try await ask(service, "+4915123459998").status == 200)
    }

    @Test func `requests to take numbers back use up no limit of other codes`() async throws {
        let service = try service { $0.smsPerHour = 100 }
        for number in 0..<60 {
            let answer = try await service.send(
                "POST", "/v1/auth/address-returns/phone",
                "{\"address\":\"+491512345\(1000 + number)\"}",
                headers: [("X-Forwarded-For", "198.51.100.\(number)")])
            #expect(answer.status == (number < 20 ? 200 : 429), "\(number)")
        }
        #expect(service.challenges.sent.isEmpty)
        #expect(try await ask(service, Self.own).status == 200)
    }

    @Test func `a device that has signed in gets codes to its number in a refused range`()
        async throws
    {
        let service = try service()
        let sent = try await ask(service, Self.own)
        let person = try await signIn(service, sent, lastCode(service))
        let device = try #require(person.text("device_token"))
        try await pump(service, AddressCodes.unansweredPerPrefix)
        #expect(try await ask(service, Self.own).code == "RATE_LIMITED")
        #expect(try await ask(service, Self.own, device: device).status == 200)
        let other = try await ask(service, "+4915123459999", device: device)
        #expect(other.code == "RATE_LIMITED", "it is known to one number")
    }

    @Test func `a fifth of the tenant's messages is for devices that have signed in`() async throws
    {
        let service = try service { $0.smsPerHour = 5 }
        let sent = try await ask(service, Self.own)
        let person = try await signIn(service, sent, lastCode(service))
        let device = try #require(person.text("device_token"))
        try await pump(service, 3)
        #expect(try await ask(service, "+4915123460000").code == "RATE_LIMITED")
        #expect(try await ask(service, Self.own, device: device).status == 200)
        #expect(try await ask(service, Self.own, device: device).code == "RATE_LIMITED")
        #expect(service.services.codes.refusals == [.tenant: 2])
        let mail = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
        #expect(mail.status == 200)
    }

    @Test func `a session alone gets none of that part`() async throws {
        let service = try service { $0.smsPerHour = 5 }
        let ada = try await service.signIn("google", "ada")
        try await pump(service, 4)
        let refused = try await service.send(
            "POST", "/v1/account/codes/phone", "{\"address\":\"\(Self.own)\"}",
            token: ada.accessToken)
        #expect(refused.code == "RATE_LIMITED")
    }

    private func enrol(
        _ service: TestService, _ person: Person, _ number: String = own
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"phone\",\"phone\":\"\(number)\"}", token: person.accessToken)
    }

    /// Signs in to an anonymous account.
    private func guest(
        _ service: TestService, _ secret: String? = nil
    ) async throws -> (person: Person, secret: String?) {
        let body = secret.map { "{\"anonymous_secret\":\"\($0)\"}" } ?? "{}"
        let answer = try await service.send("POST", "/v1/auth/sign-in/anonymous", body)
        return (try Person(answer), answer.text("anonymous_secret"))
    }

    @Test func `an established account enrols a phone in half of that part, and no other one does`()
        async throws
    {
        let service = try service {
            $0.smsPerHour = 10
            $0.anonymous = OpeningBudget(networkLimit: 10, tenantLimit: 10)
        }
        _ = try await service.signIn("google", "ada")
        let secret = try await guest(service).secret
        service.clock.advance(seconds: AddressCodes.establishedSeconds - 3601)
        _ = try await service.signIn("google", "bob")
        let sent = try await ask(service, Self.own)
        let person = try await signIn(service, sent, lastCode(service))
        let device = try #require(person.text("device_token"))
        service.clock.advance(seconds: 3601)
        try await pump(service, 8)
        for stranger in [
            try await service.signIn("google", "bob"), try await guest(service, secret).person,
            try await guest(service).person,
        ] {
            #expect(try await enrol(service, stranger).code == "RATE_LIMITED")
        }
        let ada = try await service.signIn("google", "ada")
        #expect(try await enrol(service, ada).status == 200)
        #expect(try await enrol(service, ada).code == "RATE_LIMITED")
        #expect(try await ask(service, Self.own, device: device).status == 200, "its part is left")
    }

    @Test func `an established account enrols a phone of a range that strangers have used up`()
        async throws
    {
        let service = try service()
        _ = try await service.signIn("google", "ada")
        service.clock.advance(seconds: AddressCodes.establishedSeconds)
        try await pump(service, AddressCodes.unansweredPerPrefix)
        let ada = try await service.signIn("google", "ada")
        let bob = try await service.signIn("google", "bob")
        #expect(try await enrol(service, bob).code == "RATE_LIMITED")
        #expect(try await enrol(service, ada).status == 200)
        let link = try await service.send(
            "POST", "/v1/account/codes/phone", "{\"address\":\"\(Self.own)\"}",
            token: ada.accessToken)
        #expect(link.code == "RATE_LIMITED", "a link is no enrolment")
    }
}
