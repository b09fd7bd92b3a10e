import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// The ends of device tokens: by age, and with all sessions of their account.
@Suite(.overBothTransports) struct DeviceTokenTests {
    /// A way in which all sessions of an account end.
    enum End: CaseIterable {
        case signOut
        case disabling
        case endOfSessions
        case reset
        case change

        var setsPassword: Bool { self == .reset || self == .change }
    }

    private static let (ada, bob) = ("ada@example.com", "bob@example.com")
    private static let password = "correct horse battery staple"
    private static let other = "another good password"

    private let service: TestService

    init() throws {
        service = try TestService {
            $0.codes = [.email]
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.proxies = "127.0.0.1"
        }
    }

    private func member(_ device: String?) -> String {
        device.map { "\"device_token\":\"\($0)\"," } ?? ""
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(_ sent: Answer, _ rest: String = "") throws -> String {
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\(rest)\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
    }

    /// Opens an account.
    ///
    /// - Returns: The token of the device.
    private func signUp(_ address: String = ada, device: String? = nil) async throws -> String {
        let begun = try await service.send(
            "POST", "/v1/auth/sign-up/password",
            "{\"email\":\"\(address)\",\"password\":\"\(Self.password)\"}")
        let opened = try await service.send(
            "POST", "/v1/auth/sign-in/password", code(begun, member(device)))
        return try #require(opened.text("device_token"), "\(opened.body)")
    }

    private func signIn(
        _ password: String = password, device: String? = nil, from client: String = "192.0.2.1"
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/sign-in/password",
            "{\(member(device))\"email\":\"\(Self.ada)\",\"password\":\"\(password)\"}",
            headers: [("X-Forwarded-For", client)])
    }

    /// Whether a device is known to an address: it gets a code when strangers have used up theirs.
    private func isKnown(_ device: String, to address: String = ada) async throws -> Bool {
        service.clock.advance(seconds: CodeCount.windowSeconds + 1)
        func ask(_ device: String? = nil) async throws -> Answer {
            try await service.send(
                "POST", "/v1/auth/codes/email", "{\(member(device))\"address\":\"\(address)\"}")
        }
        for _ in 0..<AddressCodes.sendsPerAddress { #expect(try await ask().status == 200) }
        #expect(try await ask().code == "RATE_LIMITED")
        return try await ask(device).status == 200
    }

    private func bySupport(_ word: String, _ account: String) async throws {
        let answer = try await service.send(
            "POST", "/v1/accounts/\(account)/\(word)", "{\"case\":\"T-6\"}",
            token: try service.audit.key(.support), headers: [("Ledger-Reason", "stolen phone")])
        #expect(answer.status == 200, "\(answer.body)")
    }

    /// Ends all sessions of Ada's account.
    private func perform(_ end: End) async throws {
        let ada = try Person(await signIn())
        switch end {
        case .signOut:
            let answer = try await service.send(
                "POST", "/v1/auth/sign-out", "{\"everywhere\":true}", token: ada.accessToken)
            #expect(answer.status == 200)
        case .disabling:
            try await bySupport("disable", ada.userID)
            try await bySupport("enable", ada.userID)
        case .endOfSessions: try await bySupport("end-sessions", ada.userID)
        case .reset:
            let sent = try await service.send(
                "POST", "/v1/auth/password-resets/password", "{\"email\":\"\(Self.ada)\"}")
            let answer = try await service.send(
                "POST", "/v1/auth/password-resets/password/complete",
                code(sent, "\"password\":\"\(Self.other)\","))
            #expect(answer.status == 200, "\(answer.body)")
        case .change:
            let answer = try await service.send(
                "POST", "/v1/account/password",
                "{\"password\":\"\(Self.other)\",\"email\":\"\(Self.ada)\","
                    + "\"current_password\":\"\(Self.password)\"}", token: ada.accessToken)
            #expect(answer.status == 200, "\(answer.body)")
        }
    }

    @Test(arguments: End.allCases)
    func
        `a device is a stranger once all sessions have ended, until it signs in again`(
            end: End
        ) async throws
    {
        // One token for both accounts: its other part stays.
        let token = try await signUp(device: try await signUp(Self.bob))
        #expect(try await isKnown(token))
        try await perform(end)
        #expect(try await !isKnown(token))
        #expect(try await isKnown(token, to: Self.bob))
        let again = try await signIn(end.setsPassword ? Self.other : Self.password, device: token)
        let renewed = try #require(again.text("device_token"))
        guard case .signedIn(let fact)? = service.ledger.events().last else {
            Issue.record("no sign-in")
            return
        }
        #expect(renewed != token && fact.device == .new)
        #expect(try await isKnown(renewed))
        #expect(try await isKnown(renewed, to: Self.bob))
        #expect(
            try await signIn(
                end.setsPassword ? Self.other : Self.password, device: renewed
            ).text("device_token") == renewed)
    }

    @Test func `sessions that end between a sign-in and its answer end its device token`()
        async throws
    {
        let token = try await signUp()
        let other = try Person(await signIn()).accessToken
        service.challenges.beforeNextRead { [service] in
            service.clock.advance(seconds: 1)
            let answer = try? await service.send(
                "POST", "/v1/auth/sign-out", "{\"everywhere\":true}", token: other)
            #expect(answer?.status == 200)
        }
        let late = try #require(try await signIn().text("device_token"))
        #expect(try await !isKnown(token))
        #expect(try await !isKnown(late))
        let next = try #require(try await signIn(device: late).text("device_token"))
        #expect(try await isKnown(next))
    }

    @Test func `a sign-out of one session ends no device token`() async throws {
        let token = try await signUp()
        #expect(try await isKnown(token))
        let here = try Person(await signIn())
        _ = try await service.send("POST", "/v1/auth/sign-out", token: here.accessToken)
        #expect(try await isKnown(token))
    }

    @Test func `a device that has reset the password is known`() async throws {
        let token = try await signUp()
        #expect(try await isKnown(token))
        let sent = try await service.send(
            "POST", "/v1/auth/password-resets/password", "{\"email\":\"\(Self.ada)\"}")
        let answer = try await service.send(
            "POST", "/v1/auth/password-resets/password/complete",
            code(sent, "\(member(token))\"password\":\"\(Self.other)\","))
        let renewed = try #require(answer.text("device_token"))
        #expect(renewed != token)
        #expect(try await isKnown(renewed))
        #expect(try await !isKnown(token))
    }

    /// Changes Ada's password in a session.
    private func change(_ ada: Person, device: String?, _ rest: String = "") async throws -> Answer
    {
        let answer = try await service.send(
            "POST", "/v1/account/password",
            "{\(member(device))\"password\":\"\(Self.other)\"\(rest)}", token: ada.accessToken)
        #expect(answer.status == 200, "\(answer.body)")
        return answer
    }

    @Test(arguments: [false, true])
    func `a device that changes the password stays known`(withPassword: Bool) async throws {
        let token = try await signUp(device: try await signUp(Self.bob))
        #expect(try await isKnown(token))
        let ada = try Person(await signIn(device: token))
        let current =
            ",\"email\":\"\(Self.ada)\",\"current_password\":\"\(Self.password)\""
        let changed = try await change(ada, device: token, withPassword ? current : "")
        let renewed = try #require(changed.text("device_token"))
        #expect(renewed != token)
        #expect(try await isKnown(renewed))
        #expect(try await isKnown(renewed, to: Self.bob))
        #expect(try await !isKnown(token))
        let again = try await signIn(Self.other, device: renewed)
        #expect(again.text("device_token") == renewed)
        guard case .signedIn(let fact)? = service.ledger.events().last else {
            Issue.record("no sign-in")
            return
        }
        #expect(fact.device == nil)
    }

    @Test func `a change without the password makes no stranger known`() async throws {
        let token = try await signUp()
        let stranger = try await signUp(Self.bob)
        let ada = try Person(await signIn(device: token))
        service.clock.advance(seconds: 1)
        let changed = try await change(ada, device: stranger)
        #expect(changed.text("device_token") == nil)
        let again = try await change(try Person(changed), device: token)
        #expect(again.text("device_token") == nil)
    }

    @Test func `a device that changes the password is known to the address that it proves`()
        async throws
    {
        _ = try await signUp()
        let ada = try Person(await signIn())
        let changed = try await change(
            ada, device: nil,
            ",\"email\":\"\(Self.ada)\",\"current_password\":\"\(Self.password)\"")
        let token = try #require(changed.text("device_token"))
        #expect(try await isKnown(token))
    }

    @Test func `a device that has not signed in for 400 days is a stranger`() async throws {
        let token = try await signUp()
        // Each look takes a window and a second.
        service.clock.advance(
            seconds: AddressCodes.deviceTokenSeconds - 2 * (CodeCount.windowSeconds + 1))
        #expect(try await isKnown(token))
        #expect(try await !isKnown(token))
    }

    @Test func `a sign-in on another day renews the token`() async throws {
        let first = try await signUp()
        #expect(try await signIn(device: first).text("device_token") == first)
        service.clock.advance(seconds: AddressCodes.deviceTokenRenewalSeconds)
        let second = try #require(try await signIn(device: first).text("device_token"))
        #expect(second != first)
        service.clock.advance(
            seconds: AddressCodes.deviceTokenSeconds - AddressCodes.deviceTokenRenewalSeconds)
        #expect(try await !isKnown(first))
        #expect(try await isKnown(second))
    }

    @Test func `a text that is no token, and a token of the former form, are those of strangers`()
        async throws
    {
        let token = try await signUp()
        let (former, threeMACs) = (
            "ZGV2aWNlIHRva2VuIG9mIDMyIGJ5dGVzIGluIGFsbC4", String(repeating: "A", count: 86)
        )
        for text in ["x", former, threeMACs, String(token.dropLast(32)), token + "AAAA"] {
            #expect(try await !isKnown(text), "\(text)")
        }
        #expect(try await signIn(device: former).status == 200)
    }

    @Test func `a token of the former form keeps no place in the next one`() async throws {
        let token = try await signUp()
        // Three MACs, as long as two marks, whose first bytes are times of a far future.
        let former = String(repeating: "Q", count: 86)
        let next = try #require(try await signIn(device: former).text("device_token"))
        #expect(next.utf8.count == token.utf8.count)
        #expect(try await isKnown(next))
    }

    @Test func `a device whose token has ended has no tries of passwords of its own`() async throws
    {
        let token = try await signUp()
        for isEnded in [false, true] {
            service.clock.advance(seconds: CodeCount.windowSeconds + 1)
            if isEnded { try await perform(.endOfSessions) }
            for network in 0..<6 {
                for _ in 0..<PasswordChecks.triesPerNetwork {
                    _ = try await signIn(Self.other, from: "198.51.100.\(network)")
                }
            }
            let answer = try await signIn(device: token, from: "203.0.113.9")
            #expect(answer.status == (isEnded ? 429 : 200), "\(answer.body)")
        }
    }
}
