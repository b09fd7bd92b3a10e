import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Passwords with a code to their address, which strangers have tried too often.
@Suite(.overBothTransports) struct PasswordCodeTests {
    private static let password = "correct horse battery staple"
    private static let other = "incorrect horse battery staple"
    private static let ada = "ada@example.com"
    private static let unknown = "eve@example.com"
    private static let network = "203.0.113.7"

    /// The members of a body that answer a challenge.
    private struct Code {
        let challenge: String
        let code: String

        var members: String { "\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"" }
        /// Another code of the same challenge.
        var wrong: Code {
            Code(challenge: challenge, code: code == "000000" ? "000001" : "000000")
        }
    }

    private func service() throws -> TestService {
        try TestService {
            $0.passwords = PasswordRule(lengthMin: 8)
            $0.codes = [.email]
            $0.proxies = "127.0.0.1"
        }
    }

    private func post(
        _ service: TestService, _ path: String, _ members: String, from client: String = network,
        token: String? = nil
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/\(path)", "{\(members)}", token: token,
            headers: [("X-Forwarded-For", client)])
    }

    private func signIn(
        _ service: TestService, _ password: String = password, with code: Code? = nil,
        _ address: String = ada, from client: String = network
    ) async throws -> Answer {
        let members = "\"email\":\"\(address)\",\"password\":\"\(password)\""
        return try await post(
            service, "auth/sign-in/password",
            ([members] + [code?.members].compactMap(\.self)).joined(separator: ","), from: client)
    }

    private func mailedCode(
        _ service: TestService, _ path: String = "auth/codes/password", _ address: String = ada,
        token: String? = nil
    ) async throws -> Code {
        let answer = try await post(
            service, path, "\"address\":\"\(address)\"", from: "192.0.2.1", token: token)
        let sent = try #require(service.challenges.sent.last)
        try #require(sent.address == address)
        return Code(
            challenge: try #require(answer.text("challenge_id")), code: sent.message.code)
    }

    /// Opens an account.
    private func signUp(_ service: TestService, _ address: String = ada) async throws -> Person {
        let begun = try await post(
            service, "auth/sign-up/password",
            "\"email\":\"\(address)\",\"password\":\"\(Self.password)\"", from: "192.0.2.1")
        let code = Code(
            challenge: try #require(begun.text("challenge_id")),
            code: try #require(service.challenges.sent.last).message.code)
        return try Person(
            await post(service, "auth/sign-in/password", code.members, from: "192.0.2.1"))
    }

    /// Uses up the tries of an address.
    private func tryAll(_ service: TestService, _ address: String = ada) async throws {
        for network in 0..<PasswordChecks.triesPerAddress / PasswordChecks.triesPerNetwork {
            for _ in 0..<PasswordChecks.triesPerNetwork {
                _ = try await signIn(
                    service, Self.other, address, from: "198.51.100.\(network)")
            }
        }
    }

    @Test func `a new device signs in with the password and a code, once`() async throws {
        let service = try service()
        let ada = try await signUp(service)
        try await tryAll(service)
        let refused = try await signIn(service)
        #expect(refused.summary == "429 RATE_LIMITED")
        #expect(refused.detail("needs") == .string("code"))
        #expect(refused["Retry-After"] != nil)
        let code = try await mailedCode(service)
        #expect(service.challenges.sent.last?.message.purpose == .signIn)
        let signedIn = try await signIn(service, with: code)
        #expect(signedIn.status == 200)
        #expect(signedIn.text("user_id") == ada.userID)
        #expect(signedIn.text("device_token") != nil)
        #expect(try await signIn(service, with: code).summary == "401 INVALID_CODE")
        #expect(try await signIn(service).detail("needs") == .string("code"))
    }

    @Test func `addresses with and without an account are refused alike, and get one answer`()
        async throws
    {
        let service = try service()
        _ = try await signUp(service)
        var refusals: Set<String> = []
        for address in [Self.ada, Self.unknown] {
            try await tryAll(service, address)
            let answer = try await signIn(service, Self.password, address, from: Self.network)
            // The id of the request is in this field only.
            let fields = answer.headers.filter { $0.name != "X-Request-Id" }
                .map { "\($0.name): \($0.value)" }.sorted()
            refusals.insert("\(answer.status) \(fields) \(answer.body)")
        }
        #expect(refusals.count == 1, "\(refusals)")
        var answers: [Answer] = []
        var spent: Set<Int> = []
        for address in [Self.ada, Self.unknown] {
            let before = service.challenges.spent
            answers.append(
                try await post(service, "auth/codes/password", "\"address\":\"\(address)\""))
            spent.insert(service.challenges.spent - before)
        }
        #expect(Set(answers.map(\.status)) == [200])
        #expect(Set(answers.map { $0.json.keys.sorted() }).count == 1)
        #expect(answers[0].json["expires_in"] == answers[1].json["expires_in"])
        #expect(spent.count == 1, "the same counts")
        #expect(service.challenges.sent.map(\.address).filter { $0 == Self.unknown }.isEmpty)
        let guessed = Code(
            challenge: try #require(answers[1].text("challenge_id")), code: "000000")
        #expect(
            try await signIn(service, with: guessed, Self.unknown).summary == "401 INVALID_CODE")
    }

    @Test func `a code is used up by a wrong password, also one that no rule admits`()
        async throws
    {
        let service = try service()
        _ = try await signUp(service)
        try await tryAll(service)
        for password in [Self.other, "short"] {
            let code = try await mailedCode(service)
            #expect(
                try await signIn(service, password, with: code).summary == "401 INVALID_PASSWORD")
            #expect(try await signIn(service, with: code).summary == "401 INVALID_CODE")
        }
        #expect(try await signIn(service, with: mailedCode(service)).status == 200)
    }

    @Test func `of many requests with one code at once one has its password checked`()
        async throws
    {
        let service = try service()
        _ = try await signUp(service)
        try await tryAll(service)
        let code = try await mailedCode(service)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<5 {
                group.addTask { try await signIn(service, Self.other, with: code).summary }
            }
            return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(answers == ["401 INVALID_PASSWORD": 1, "401 INVALID_CODE": 4])
    }

    @Test func `a wrong code counts as one, and a limited try leaves the right one`() async throws {
        let service = try service()
        _ = try await signUp(service)
        try await tryAll(service)
        for _ in 0..<AddressCodes.triesPerNetwork / StoredChallenge.triesMax {
            let code = try await mailedCode(service)
            for _ in 0..<StoredChallenge.triesMax {
                #expect(
                    try await signIn(service, with: code.wrong).summary == "401 INVALID_CODE")
            }
            #expect(
                try await signIn(service, with: code, from: "203.0.113.8").summary
                    == "401 INVALID_CODE", "tried too often")
        }
        let code = try await mailedCode(service)
        let limited = try await signIn(service, with: code)
        #expect(limited.summary == "429 RATE_LIMITED")
        #expect(limited.detail("needs") == nil)
        #expect(try await signIn(service, with: code, from: "203.0.113.8").status == 200)
    }

    @Test func `the limit of the client network holds, and leaves the code`() async throws {
        let service = try service()
        _ = try await signUp(service)
        for _ in 0..<PasswordChecks.triesPerNetwork { _ = try await signIn(service, Self.other) }
        try await tryAll(service)
        let code = try await mailedCode(service)
        for code in [nil, code] {
            let limited = try await signIn(service, with: code)
            #expect(limited.summary == "429 RATE_LIMITED")
            #expect(limited.detail("needs") == nil)
        }
        #expect(try await signIn(service, with: code, from: "203.0.113.8").status == 200)
    }

    @Test func `a code of another address or use is wrong, and this one has no other use`()
        async throws
    {
        let service = try service()
        let ada = try await signUp(service)
        let bob = "bob@example.com"
        _ = try await signUp(service, bob)
        try await tryAll(service)
        let others = [
            try await mailedCode(service, "auth/codes/password", bob),
            try await mailedCode(service, "auth/codes/email"),
            try await mailedCode(service, "account/codes/password", token: ada.accessToken),
        ]
        for other in others {
            #expect(try await signIn(service, with: other).summary == "401 INVALID_CODE")
        }
        let code = try await mailedCode(service)
        for (path, rest) in [
            ("sign-in/email", ""), ("sign-in/password", ""),
            ("password-resets/password/complete", ",\"password\":\"\(Self.other)\""),
        ] {
            let answer = try await post(service, "auth/\(path)", code.members + rest)
            #expect(answer.summary == "401 INVALID_CODE", "\(path)")
        }
        #expect(try await signIn(service, with: code).status == 200)
    }
}
