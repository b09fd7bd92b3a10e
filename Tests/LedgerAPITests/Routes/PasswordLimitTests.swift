import BlockingCalls
import Dispatch
import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// The limits of passwords: wrong ones, the threads that hash them, and the time of a refusal.
@Suite(.overBothTransports) struct PasswordLimitTests {
    private static let password = "correct horse battery staple"
    private static let other = "incorrect horse battery staple"
    private static let ada = "ada@example.com"
    private static let network = "203.0.113.7"

    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.codes = [.email]
            $0.proxies = "127.0.0.1"
            change(&$0)
        }
    }

    private func credential(
        _ address: String = ada, _ password: String = password, device: String? = nil
    ) -> String {
        let known = device.map { "\"device_token\":\"\($0)\"," } ?? ""
        return "{\(known)\"email\":\"\(address)\",\"password\":\"\(password)\"}"
    }

    private func post(
        _ service: TestService, _ path: String, _ body: String, from client: String
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/auth/\(path)", body, headers: [("X-Forwarded-For", client)])
    }

    private func begin(
        _ service: TestService, _ address: String = ada, from client: String = "192.0.2.1"
    ) async throws -> Answer {
        try await post(service, "sign-up/password", credential(address), from: client)
    }

    private func signIn(
        _ service: TestService, _ body: String, from client: String = "192.0.2.1"
    ) async throws -> Answer {
        try await post(service, "sign-in/password", body, from: client)
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(
        _ answer: Answer, _ service: TestService, _ rest: String = ""
    ) throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"\(rest)}"
    }

    /// Opens an account.
    ///
    /// - Returns: The token of the device.
    private func signUp(_ service: TestService) async throws -> String {
        let answer = try await signIn(service, code(begin(service), service))
        return try #require(answer.text("device_token"))
    }

    /// Uses up the tries of an address.
    private func tryAll(_ service: TestService) async throws {
        for network in 0..<6 {
            for _ in 0..<PasswordChecks.triesPerNetwork {
                _ = try await signIn(
                    service, credential(Self.ada, Self.other), from: "198.51.100.\(network)")
            }
        }
    }

    @Test func `strangers can't lock out a device that has signed in before`() async throws {
        let service = try service()
        let device = try await signUp(service)
        try await tryAll(service)
        for _ in 0..<2 {
            let stranger = try await signIn(service, credential(), from: Self.network)
            #expect(stranger.code == "RATE_LIMITED")
        }
        // It is recorded after the answer.
        while !service.ledger.events().map(\.name).contains(.signInThrottled) {
            await Task.yield()
        }
        #expect(service.ledger.events().filter { $0.name == .signInThrottled }.count == 1)
        let known = credential(device: device)
        #expect(try await signIn(service, known, from: Self.network).status == 200)
    }

    @Test func `strangers can't lock out a device that has reset the password`() async throws {
        let service = try service()
        _ = try await signUp(service)
        try await tryAll(service)
        let locked = try await signIn(service, credential(), from: Self.network)
        #expect(locked.code == "RATE_LIMITED")
        let reset = try await post(
            service, "password-resets/password", "{\"email\":\"\(Self.ada)\"}",
            from: Self.network)
        let completed = try await post(
            service, "password-resets/password/complete",
            code(reset, service, ",\"password\":\"\(Self.other)\""), from: Self.network)
        let device = try #require(completed.text("device_token"))
        let known = credential(Self.ada, Self.other, device: device)
        #expect(try await signIn(service, known, from: Self.network).status == 200)
    }

    /// Replaces the password by the other one, with the current one.
    private func change(
        _ service: TestService, by person: Person, _ address: String = ada,
        _ current: String = password, from client: String = network
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/account/password",
            "{\"password\":\"\(Self.other)\",\"email\":\"\(address)\","
                + "\"current_password\":\"\(current)\"}",
            token: person.accessToken, headers: [("X-Forwarded-For", client)])
    }

    @Test func `strangers can't lock out an account holder who is signed in`() async throws {
        let service = try service()
        _ = try await signUp(service)
        let ada = try Person(await signIn(service, credential()))
        try await tryAll(service)
        let stranger = try await signIn(service, credential(), from: Self.network)
        #expect(stranger.code == "RATE_LIMITED")
        // The password is right, and the code of the new address is missing.
        let address = try await service.send(
            "POST", "/v1/account/addresses/password",
            "{\"current_address\":\"\(Self.ada)\",\"challenge_id\":\"1\",\"code\":\"1\","
                + "\"current_password\":\"\(Self.password)\"}",
            token: ada.accessToken)
        #expect(address.summary == "401 INVALID_CODE")
        #expect(try await change(service, by: ada).status == 200)
    }

    @Test func `an account holder tries few passwords, and none of another account`() async throws {
        let service = try service()
        let bob = "bob@example.com"
        let ada = try Person(await signIn(service, code(begin(service), service)))
        let other = try Person(await signIn(service, code(begin(service, bob), service)))
        for number in 0..<PasswordChecks.triesPerAccount {
            let client = "198.51.100.\(number)"
            let answer =
                number.isMultiple(of: 2)
                ? try await change(service, by: ada, Self.ada, Self.other, from: client)
                : try await change(service, by: ada, bob, from: client)
            #expect(answer.code == "INVALID_PASSWORD")
        }
        #expect(try await change(service, by: ada).code == "RATE_LIMITED")
        #expect(try await change(service, by: ada, bob).code == "RATE_LIMITED")
        // Sign-ins and other accounts have counts of their own.
        #expect(try await signIn(service, credential(), from: Self.network).status == 200)
        #expect(try await change(service, by: other, bob).status == 200)
    }

    @Test func `the codes of one use don't use up those of others for an address`() async throws {
        let service = try service()
        let address = "{\"address\":\"\(Self.ada)\"}"
        let uses = [
            ("codes/email", address), ("sign-up/password", credential()),
            ("password-resets/password", "{\"email\":\"\(Self.ada)\"}"),
        ]
        for (path, body) in uses {
            for _ in 0..<AddressCodes.sendsPerAddress {
                #expect(try await post(service, path, body, from: Self.network).status == 200)
            }
            let refused = try await post(service, path, body, from: Self.network)
            #expect(refused.code == "RATE_LIMITED", "\(path)")
        }
        // The return of an address counts with the resets.
        let last = try await post(service, "address-returns/email", address, from: Self.network)
        #expect(last.code == "RATE_LIMITED")
    }

    @Test func `one password tried with many addresses counts by the client network`()
        async throws
    {
        let service = try service()
        let device = try await signUp(service)
        // Right passwords don't count.
        for _ in 0..<10 {
            #expect(try await signIn(service, credential(), from: Self.network).status == 200)
        }
        for number in 0..<PasswordChecks.triesOfNetwork {
            let guess = credential("person-\(number)@example.com")
            #expect(
                try await signIn(service, guess, from: Self.network).code == "INVALID_PASSWORD")
        }
        let refused = try await signIn(service, credential(), from: Self.network)
        #expect(refused.code == "RATE_LIMITED")
        #expect(try await signIn(service, credential(), from: "203.0.113.8").status == 200)
        let known = credential(device: device)
        #expect(try await signIn(service, known, from: Self.network).status == 200)
    }

    @Test func `one client network causes few entries about refused sign-ins`() async throws {
        let service = try service()
        let passwords = service.services.passwords
        func isFirst(_ number: Int, from network: String = Self.network) async throws -> Bool {
            let body = PasswordBody.known(
                address: "person-\(number)@example.com", try Password(Self.other), deviceToken: nil)
            return await passwords.firstRefused(
                body, in: .default, from: network, at: service.clock.now) != nil
        }
        for number in 0..<PasswordChecks.triesPerNetwork {
            #expect(try await isFirst(number))
            #expect(try await !isFirst(number))
        }
        #expect(try await !isFirst(100))
        #expect(try await isFirst(100, from: "203.0.113.8"))
    }

    @Test func `a sign-up is counted before its password is hashed`() async throws {
        let pool = BlockingPool(label: "passwords", threads: 1, waitingMax: 0)
        let service = try service { $0.passwordPool = pool }
        for number in 0..<AddressCodes.sendsPerNetwork {
            let answer = try await begin(
                service, "person-\(number)@example.com", from: Self.network)
            #expect(answer.status == 200)
        }
        let admitted = try pool.admit()
        #expect(try await begin(service, from: Self.network).code == "RATE_LIMITED")
        #expect(try await begin(service, from: "203.0.113.8").code == "UNAVAILABLE")
        await admitted.run {}
    }

    @Test func `a client network has a share of the pool, and known devices have one`()
        async throws
    {
        let pool = BlockingPool(
            label: "passwords", threads: 1, waitingMax: 3, waitingMaxPerClient: 0,
            keptForKnown: 2)
        let service = try service { $0.passwordPool = pool }
        let device = try await signUp(service)
        let first = try pool.admit(for: .init(Self.network))
        #expect(try await signIn(service, credential(), from: Self.network).code == "UNAVAILABLE")
        #expect(try await signIn(service, credential()).status == 200)
        let second = try pool.admit(for: .init("another network"))
        #expect(try await signIn(service, credential()).code == "UNAVAILABLE")
        #expect(try await begin(service, "bob@example.com").code == "UNAVAILABLE")
        let known = credential(device: device)
        #expect(try await signIn(service, known, from: Self.network).status == 200)
        // The token of another address does not identify the device.
        let others = credential("bob@example.com", device: device)
        #expect(try await signIn(service, others).code == "UNAVAILABLE")
        // Any number of devices has the share of their network.
        let third = try pool.admit(for: .init(Self.network, isKnown: true))
        #expect(try await signIn(service, known, from: Self.network).code == "UNAVAILABLE")
        #expect(try await signIn(service, known).status == 200)
        await first.run {}
        await second.run {}
        await third.run {}
    }

    @Test func `a full pool refuses known and unknown addresses alike`() async throws {
        let pool = BlockingPool(label: "passwords", threads: 1, waitingMax: 0)
        let service = try service { $0.passwordPool = pool }
        _ = try await signUp(service)
        let admitted = try pool.admit()
        for path in ["sign-in/password", "sign-up/password"] {
            var forms: Set<String> = []
            for (address, password) in [
                (Self.ada, Self.password), (Self.ada, Self.other), ("bob@example.com", Self.other),
            ] {
                let answer = try await post(
                    service, path, credential(address, password), from: "192.0.2.1")
                #expect(answer.summary == "503 UNAVAILABLE", "\(path)")
                // The id of the request is in this field only.
                let fields = answer.headers.filter { $0.name != "X-Request-Id" }
                    .map { "\($0.name): \($0.value)" }.sorted()
                forms.insert("\(answer.status) \(fields) \(answer.body)")
            }
            #expect(forms.count == 1, "\(path): \(forms)")
        }
        await admitted.run {}
    }

    @Test func `each wrong password is answered half a second after its request at the earliest`()
        async throws
    {
        let pauses = Pauses()
        let service = try service { $0.pauses = pauses }
        _ = try await signUp(service)
        #expect(try await signIn(service, credential()).status == 200)
        #expect(pauses.all.isEmpty)
        let wrong = [
            credential(Self.ada, Self.other), credential("bob@example.com"), credential("none"),
        ]
        for (index, body) in wrong.enumerated() {
            let begin = ContinuousClock.now
            #expect(try await signIn(service, body).code == "INVALID_PASSWORD")
            #expect(pauses.all.count == index + 1)
            let end = try #require(pauses.all.last)
            #expect(end >= begin + .milliseconds(500))
            #expect(end <= ContinuousClock.now + .milliseconds(500))
        }
    }

    @Test func `a wait for a thread is no part of the time until a wrong password is answered`()
        async throws
    {
        let pauses = Pauses()
        let pool = BlockingPool(label: "passwords", threads: 1, waitingMax: 1)
        let service = try service {
            $0.passwordPool = pool
            $0.pauses = pauses
        }
        let letGo = DispatchSemaphore(value: 0)
        async let held: Void = pool.admit().run { letGo.wait() }
        while pool.admittedCount < 1 { await Task.yield() }
        async let answer = signIn(service, credential())
        while pool.admittedCount < 2 { await Task.yield() }
        let released = ContinuousClock.now
        letGo.signal()
        try await held
        #expect(try await answer.code == "INVALID_PASSWORD")
        #expect(try #require(pauses.all.last) >= released + .milliseconds(500))
    }
}
