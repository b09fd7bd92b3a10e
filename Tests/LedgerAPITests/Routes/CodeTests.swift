import Cryptography
import Encodings
import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Codes that are sent to addresses.
@Suite(.overBothTransports) struct CodeTests {
    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.codes = [.email, .phone]
            change(&$0)
        }
    }

    /// A challenge with its code, as a client sends them.
    private struct Code {
        let challenge: String
        let code: String

        var body: String { "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}" }
        /// Another code of the same challenge.
        var wrong: Code {
            Code(challenge: challenge, code: code == "000000" ? "000001" : "000000")
        }
    }

    private func request(
        _ service: TestService, _ address: String = "ada@example.com", kind: String = "email",
        tenant: String = "", headers: [(name: String, value: String)] = []
    ) async throws -> Code {
        let answer = try await service.send(
            "POST", "\(tenant)/v1/auth/codes/\(kind)", "{\"address\":\"\(address)\"}",
            headers: headers)
        #expect(answer.status == 200)
        return try code(answer, service)
    }

    private func request(
        _ service: TestService, for token: String, _ address: String, plan: String? = nil
    ) async throws -> Code {
        let member = plan.map { ",\"plan_digest\":\"\($0)\"" } ?? ""
        let answer = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"\(address)\"\(member)}",
            token: token)
        #expect(answer.status == 200)
        return try code(answer, service)
    }

    private func code(_ answer: Answer, _ service: TestService) throws -> Code {
        let sent = try #require(service.challenges.sent.last)
        return Code(
            challenge: try #require(answer.json["challenge_id"]?.string),
            code: sent.message.code)
    }

    private func signIn(
        _ service: TestService, _ code: Code, kind: String = "email", tenant: String = "",
        from client: String? = nil
    ) async throws -> Answer {
        try await service.send(
            "POST", "\(tenant)/v1/auth/sign-in/\(kind)", code.body,
            headers: client.map { [("X-Forwarded-For", $0)] } ?? [])
    }

    @Test func `a code signs up, and another one signs in to the same account`() async throws {
        let service = try service()
        let first = try await signIn(service, request(service))
        #expect(first.status == 200)
        #expect(first.json["is_new_user"] == .bool(true))
        // Case and the spelling of the domain do not make another address.
        let again = try await signIn(service, request(service, "ADA@EXAMPLE.com"))
        #expect(again.json["is_new_user"] == .bool(false))
        #expect(again.json["user_id"] == first.json["user_id"])
        let tagged = try await signIn(service, request(service, "ada+x@example.com"))
        #expect(tagged.json["user_id"] != first.json["user_id"])
    }

    @Test func `a phone number signs up`() async throws {
        let service = try service()
        let code = try await request(service, "+49 151 23456789", kind: "phone")
        #expect(service.challenges.sent.last?.address == "+4915123456789")
        #expect(try await signIn(service, code, kind: "phone").status == 200)
    }

    @Test(arguments: ["+1 650 253 0000", "+49 30 123456"])
    func `no code goes to a country that is not listed, or to a landline`(number: String)
        async throws
    {
        let answer = try await service().send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(number)\"}")
        #expect(answer.code == "INVALID_REQUEST")
    }

    @Test func `a code is used once`() async throws {
        let service = try service()
        let code = try await request(service)
        #expect(try await signIn(service, code).status == 200)
        #expect(try await signIn(service, code).code == "INVALID_CODE")
    }

    @Test func `exactly five codes are compared, however many are tried at once`() async throws {
        let service = try service()
        let code = try await request(service)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let answer = try await signIn(service, code.wrong)
                    #expect(answer.code == "INVALID_CODE")
                }
            }
            try await group.waitForAll()
        }
        #expect(try await signIn(service, code).code == "INVALID_CODE")
        // The fifth try of another challenge may still be the right code.
        let next = try await request(service)
        for _ in 0..<4 { _ = try await signIn(service, next.wrong) }
        #expect(try await signIn(service, next).status == 200)
    }

    @Test func `more challenges buy no tries, and another network has tries of its own`()
        async throws
    {
        let service = try service { $0.proxies = "127.0.0.1" }
        for _ in 0..<2 {
            let code = try await request(service)
            for _ in 0..<5 { _ = try await signIn(service, code.wrong, from: "198.51.100.1") }
        }
        let code = try await request(service)
        let limited = try await signIn(service, code, from: "198.51.100.1")
        #expect(limited.code == "RATE_LIMITED")
        #expect(limited["Retry-After"] != nil)
        #expect(try await signIn(service, code, from: "203.0.113.9").status == 200)
    }

    @Test func `strangers can't lock out a device that has signed in before`() async throws {
        let service = try service { $0.proxies = "127.0.0.1" }
        let first = try await signIn(service, request(service))
        let device = try #require(first.text("device_token"))
        func ask(_ token: String?) async throws -> Answer {
            let member = token.map { ",\"device_token\":\"\($0)\"" } ?? ""
            return try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"\(member)}")
        }
        // Strangers use up the codes of the address, and the tries of two networks and of the address.
        service.clock.advance(seconds: 3601)
        for number in 0..<4 {
            let code = try await request(service)
            for _ in 0..<5 {
                _ = try await signIn(service, code.wrong, from: "198.51.100.\(number / 2)")
            }
        }
        let last = try await request(service)
        #expect(try await signIn(service, last, from: "203.0.113.9").code == "RATE_LIMITED")
        #expect(try await ask(nil).code == "RATE_LIMITED")
        let code = try await code(ask(device), service)
        let known = try await service.send(
            "POST", "/v1/auth/sign-in/email",
            "{\"device_token\":\"\(device)\",\(code.body.dropFirst())")
        #expect(known.status == 200)
        // It keeps its token, which is good for no other address.
        #expect(known.text("device_token") == device)
        let other = try await service.send(
            "POST", "/v1/auth/codes/email",
            "{\"address\":\"bob@example.com\",\"device_token\":\"\(device)\"}")
        #expect(other.status == 200)
        for _ in 0..<4 { _ = try await request(service, "bob@example.com") }
        let sixth = try await service.send(
            "POST", "/v1/auth/codes/email",
            "{\"address\":\"bob@example.com\",\"device_token\":\"\(device)\"}")
        #expect(sixth.code == "RATE_LIMITED")
    }

    @Test func `strangers can't use up the tries of an account holder, which are limited as well`()
        async throws
    {
        let service = try service { $0.proxies = "127.0.0.1" }
        let address = "ada@example.com"
        for number in 0..<4 {
            let code = try await request(service)
            for _ in 0..<StoredChallenge.triesMax {
                let answer = try await signIn(
                    service, code.wrong, from: "198.51.100.\(number / 2)")
                #expect(answer.code == "INVALID_CODE")
            }
        }
        let last = try await request(service)
        #expect(try await signIn(service, last, from: "203.0.113.9").code == "RATE_LIMITED")
        func link(_ code: Code, by person: Person) async throws -> Answer {
            try await service.send(
                "POST", "/v1/auth/link/email", code.body, token: person.accessToken)
        }
        func guess(by name: String) async throws {
            let person = try await service.signIn("google", name)
            for _ in 0..<AddressCodes.triesPerNetwork / StoredChallenge.triesMax {
                let code = try await request(service, for: person.accessToken, address)
                for _ in 0..<StoredChallenge.triesMax {
                    #expect(try await link(code.wrong, by: person).code == "INVALID_CODE")
                }
            }
            let code = try await request(service, for: person.accessToken, address)
            #expect(try await link(code, by: person).code == "RATE_LIMITED")
        }
        try await guess(by: "eve")
        let ada = try await service.signIn("google", "ada")
        let code = try await request(service, for: ada.accessToken, address)
        #expect(try await link(code, by: ada).providers == ["google", "email"])
        // All accounts together have as many tries as all networks.
        try await guess(by: "mallory")
        let bob = try await service.signIn("google", "bob")
        let other = try await request(service, for: bob.accessToken, address)
        #expect(try await link(other, by: bob).code == "RATE_LIMITED")
    }

    @Test func `an address gets five codes an hour`() async throws {
        let service = try service()
        for _ in 0..<5 { _ = try await request(service) }
        let sixth = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
        #expect(sixth.code == "RATE_LIMITED")
        #expect(service.challenges.sent.count == 5)
        service.clock.advance(seconds: 3601)
        _ = try await request(service)
    }

    @Test(arguments: ["", ",\"change\":true", ",\"plan_digest\":\"plan\""])
    func `strangers can't use up the codes that an account holder requests`(rest: String)
        async throws
    {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        for _ in 0..<AddressCodes.sendsPerAddress { _ = try await request(service) }
        let refused = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
        #expect(refused.code == "RATE_LIMITED")
        let sent = try await service.send(
            "POST", "/v1/account/codes/email", "{\"address\":\"ada@example.com\"\(rest)}",
            token: ada.accessToken)
        #expect(sent.status == 200)
    }

    @Test func `the codes that accounts request have limits by account and by address`()
        async throws
    {
        let service = try service()
        func ask(_ person: Person, _ address: String = "new@example.com") async throws -> Answer {
            try await service.send(
                "POST", "/v1/account/codes/email", "{\"address\":\"\(address)\"}",
                token: person.accessToken)
        }
        let people = [
            try await service.signIn("google", "ada"), try await service.signIn("google", "bob"),
        ]
        for person in people {
            for _ in 0..<AddressCodes.sendsPerAddress {
                #expect(try await ask(person).status == 200)
            }
            #expect(try await ask(person).code == "RATE_LIMITED")
        }
        let eve = try await service.signIn("google", "eve")
        #expect(try await ask(eve).code == "RATE_LIMITED")
        #expect(try await ask(eve, "eve@example.com").status == 200)
        // Those of people without an account are others.
        _ = try await request(service, "new@example.com")
        for number in AddressCodes.sendsPerAddress..<AddressCodes.sendsPerAccount {
            #expect(try await ask(people[0], "ada-\(number)@example.com").status == 200)
        }
        #expect(try await ask(people[0], "ada@example.com").code == "RATE_LIMITED")
    }

    @Test func `a code expires after ten minutes`() async throws {
        let service = try service()
        let code = try await request(service)
        service.clock.advance(seconds: 600)
        #expect(try await signIn(service, code).code == "INVALID_CODE")
    }

    @Test func `a code is good for its tenant and its provider alone`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try service { $0.tenants = [.default, acme] }
        let code = try await request(service)
        #expect(try await signIn(service, code, tenant: "/t/acme").code == "INVALID_CODE")
        #expect(try await signIn(service, code, kind: "phone").code == "INVALID_CODE")
        #expect(try await signIn(service, code).status == 200)
    }

    @Test func `a code to sign in links nothing, and a code to link is its session's`() async throws
    {
        let service = try service()
        let ada = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("apple", "bob")
        func link(_ token: String, _ code: Code) async throws -> Answer {
            try await service.send("POST", "/v1/auth/link/email", code.body, token: token)
        }
        #expect(try await link(ada.accessToken, request(service)).code == "INVALID_CODE")
        let code = try await request(service, for: ada.accessToken, "ada@example.com")
        #expect(try await link(bob.accessToken, code).code == "INVALID_CODE")
        let linked = try await link(ada.accessToken, code)
        #expect(linked.status == 200)
        #expect(linked.providers == ["apple", "email"])
        #expect(try await link(ada.accessToken, code).code == "INVALID_CODE")
    }

    @Test
    func `the code of a refused link signs in and previews, and the merge has one of its own`()
        async throws
    {
        let service = try service()
        let other = try await signIn(service, request(service))
        let ada = try await service.signIn("apple", "ada")
        let code = try await request(service, for: ada.accessToken, "ada@example.com")
        let refused = try await service.send(
            "POST", "/v1/auth/link/email", code.body, token: ada.accessToken)
        #expect(refused.code == "PROVIDER_CONFLICT")
        let member = code.body.dropFirst()
        let preview = try await service.send(
            "POST", "/v1/account/merge/preview", "{\"provider\":\"email\",\(member)",
            token: ada.accessToken)
        #expect(preview.status == 200)
        let plan = try #require(preview.json["plan_digest"]?.string)
        func merge(_ code: Code) async throws -> Answer {
            try await service.send(
                "POST", "/v1/account/merge",
                "{\"provider\":\"email\",\"plan_digest\":\"\(plan)\",\(code.body.dropFirst())",
                token: ada.accessToken)
        }
        #expect(try await merge(code).code == "INVALID_CODE")
        let agreed = try await request(
            service, for: ada.accessToken, "ada@example.com", plan: plan)
        #expect(try await merge(agreed).status == 200)
        let back = try await signIn(service, request(service))
        #expect(back.json["user_id"]?.string == ada.userID)
        #expect(back.json["user_id"] != other.json["user_id"])
        // The code of the refused link was not used up, and is still good for a sign-in.
        #expect(try await signIn(service, code).status == 200)
    }

    @Test func `known and unknown addresses get the same answer`() async throws {
        let service = try service()
        _ = try await signIn(service, request(service))
        let known = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
        let unknown = try await service.send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"bob@example.com\"}")
        #expect(known.status == unknown.status)
        #expect(Set(known.json.keys) == Set(unknown.json.keys))
        #expect(known.json["expires_in"] == unknown.json["expires_in"])
        #expect(service.challenges.sent.suffix(2).map(\.message.purpose) == [.signIn, .signIn])
    }

    @Test(arguments: ["", "ada", "ada@", "@example.com", "a b@example.com", "ada@example.com\\n"])
    func `a text that is no address is refused`(text: String) async throws {
        let answer = try await service().send(
            "POST", "/v1/auth/codes/email", "{\"address\":\"\(text)\"}")
        #expect(answer.code == "INVALID_REQUEST")
    }

    @Test func `a provider without codes sends none`() async throws {
        let answer = try await service().send(
            "POST", "/v1/auth/codes/apple", "{\"address\":\"ada@example.com\"}")
        #expect(answer.code == "UNSUPPORTED_PROVIDER")
    }

    @Test func `a rotated key still finds addresses and checks codes that were sent before`()
        async throws
    {
        let service = try service()
        let first = try await signIn(service, request(service))
        let pending = try await request(service)
        let rotated = try service.restarted {
            $0.digestKeys["second"] = SymmetricKey.generate()
            $0.digestKey = "second"
        }
        let answer = try await signIn(rotated, pending)
        #expect(answer.json["user_id"] == first.json["user_id"])
    }
}
