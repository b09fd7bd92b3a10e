import Ledger
import LedgerTestSupport
import Passwords
import Testing

/// Sign-ins from devices that are not known: those without a token, in the ways that give one.
@Suite(.overBothTransports) struct NewDeviceTests {
    private static let ada = "ada@example.com"

    private func service(noticesNewDevices: Bool = true) throws -> TestService {
        try TestService {
            $0.codes = [.email, .phone]
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.noticesNewDevices = noticesNewDevices
        }
    }

    /// Requires that the last sign-in was from a new device, or was not.
    private func expect(
        isNew: Bool, _ service: TestService, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard case .signedIn(let fact)? = service.ledger.events().last else {
            throw ModelLedger.Unexpected(result: .failure(.accountNotFound))
        }
        #expect((fact.device == .new) == isNew, sourceLocation: sourceLocation)
    }

    private func password(_ address: String = ada) -> String {
        "{\"email\":\"\(address)\",\"password\":\"correct horse battery staple\"}"
    }

    private func answer(
        _ sent: Answer, _ service: TestService, device: String? = nil
    ) throws -> String {
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        let token = device.map { ",\"device_token\":\"\($0)\"" } ?? ""
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(token)}"
    }

    private func signUp(_ service: TestService, _ address: String = ada) async throws {
        let begun = try await service.send(
            "POST", "/v1/auth/sign-up/password", password(address))
        let opened = try await service.send(
            "POST", "/v1/auth/sign-in/password", answer(begun, service))
        #expect(opened.status == 200, "\(opened.body)")
    }

    private func byPassword(
        _ service: TestService, _ address: String = ada, device: String? = nil
    ) async throws -> Answer {
        let token = device.map { "\"device_token\":\"\($0)\"," } ?? ""
        let answer = try await service.send(
            "POST", "/v1/auth/sign-in/password", "{\(token)\(password(address).dropFirst())")
        #expect(answer.status == 200, "\(answer.body)")
        return answer
    }

    private func byCode(
        _ service: TestService, at provider: String = "email", _ address: String = ada,
        device: String? = nil
    ) async throws -> Answer {
        let sent = try await service.send(
            "POST", "/v1/auth/codes/\(provider)", "{\"address\":\"\(address)\"}")
        let answer = try await service.send(
            "POST", "/v1/auth/sign-in/\(provider)", answer(sent, service, device: device))
        #expect(answer.status == 200, "\(answer.body)")
        return answer
    }

    @Test func `a password from a device without a token of the address is one from a new device`()
        async throws
    {
        let service = try service()
        try await signUp(service)
        try expect(isNew: false, service)
        let known = try #require(try await byPassword(service).text("device_token"))
        try expect(isNew: true, service)
        _ = try await byPassword(service, device: known)
        try expect(isNew: false, service)
        // The token of another address does not identify the device.
        try await signUp(service, "bob@example.com")
        _ = try await byPassword(service, "bob@example.com", device: known)
        try expect(isNew: true, service)
    }

    @Test func `so is a code`() async throws {
        let service = try service()
        let first = try await byCode(service)
        try expect(isNew: false, service)
        _ = try await byCode(service)
        try expect(isNew: true, service)
        _ = try await byCode(service, device: first.text("device_token"))
        try expect(isNew: false, service)
    }

    @Test func `a device with codes by e-mail and by phone in turns is new once`() async throws {
        let service = try service()
        let number = "+4915123450000"
        let opened = try await byCode(service)
        let ada = try Person(opened)
        let sent = try await service.send(
            "POST", "/v1/account/codes/phone", "{\"address\":\"\(number)\"}",
            token: ada.accessToken)
        let linked = try await service.send(
            "POST", "/v1/auth/link/phone", answer(sent, service), token: ada.accessToken)
        #expect(linked.status == 200, "\(linked.body)")
        var device = opened.text("device_token")
        for isNew in [true, false] {
            device = try await byCode(service, at: "phone", number, device: device)
                .text("device_token")
            try expect(isNew: isNew, service)
            device = try await byCode(service, device: device).text("device_token")
            try expect(isNew: false, service)
        }
    }

    @Test func `a token is good for the last five addresses`() async throws {
        let service = try service()
        let addresses = (0..<6).map { "person-\($0)@example.com" }
        var device: String?
        for address in addresses {
            device = try await byCode(service, address, device: device).text("device_token")
        }
        for (address, isNew) in [(addresses[1], false), (addresses[0], true)] {
            _ = try await byCode(service, address, device: device)
            try expect(isNew: isNew, service)
        }
    }

    @Test func `a provider's token gives no device token, unless a second factor follows`()
        async throws
    {
        let service = try service()
        let person = try await service.signIn("google", "ada")
        #expect(try await service.signIn("google", "ada").userID == person.userID)
        try expect(isNew: false, service)
        let ada = try await service.enrol(person)
        var device: String?
        for isNew in [true, false] {
            let refused = try await service.postSignIn(
                "google", service.idToken("google", "ada"))
            let token = device.map { ",\"device_token\":\"\($0)\"" } ?? ""
            let finished = try await service.finish(
                refused, ada.factor, ada.app.code(at: service.clock.now.seconds), token)
            #expect(finished.status == 200, "\(finished.body)")
            try expect(isNew: isNew, service)
            device = finished.text("device_token")
            service.clock.advance(seconds: 30)
        }
    }

    @Test func `without notices no device is new`() async throws {
        let passwords = try service(noticesNewDevices: false)
        try await signUp(passwords)
        _ = try await byPassword(passwords)
        try expect(isNew: false, passwords)
        let codes = try service(noticesNewDevices: false)
        for _ in 0..<2 {
            _ = try await byCode(codes)
            try expect(isNew: false, codes)
        }
    }
}
