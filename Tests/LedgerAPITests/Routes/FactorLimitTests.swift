import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// The limits of wrong second factors: guesses are bounded, and strangers don't lock the holder out.
@Suite(.overBothTransports) struct FactorLimitTests {
    private static let number = "+4915123456789"

    /// A service with a person who has an authenticator app.
    private struct Scene {
        let service: TestService
        let holder: FactorHolder
        let recoveryCodes: String

        var code: String { holder.app.code(at: service.clock.now.seconds) }
        var wrong: String { holder.app.wrongCode(at: service.clock.now.seconds) }

        init() async throws {
            service = try TestService {
                $0.codes = [.email, .phone]
                $0.passwords = PasswordRule(lengthMin: 8)
                $0.proxies = "127.0.0.1"
            }
            holder = try await service.enrol(try await service.signIn("google", "ada"))
            let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
            recoveryCodes = try #require(
                refused.detail("factors")?.array?.last?.members?["factor_id"]?.string)
        }

        /// Tries a code of a factor in a new sign-in.
        func attempt(
            _ code: String, of factor: String? = nil, from client: String = "192.0.2.1",
            _ rest: String = ""
        ) async throws -> Answer {
            try await service.finish(
                try await service.postSignIn("google", service.idToken("google", "ada")),
                factor ?? holder.factor, code, rest, headers: [("X-Forwarded-For", client)])
        }

        /// Uses up the limit of a network or a device.
        func guess(
            of factor: String? = nil, from client: String, _ rest: String = ""
        ) async throws {
            for _ in 0..<AddressCodes.triesPerNetwork {
                let answer = try await attempt(wrong, of: factor, from: client, rest)
                #expect(answer.summary == "401 INVALID_CODE")
            }
            #expect(try await attempt(code, of: factor, from: client, rest).status == 429)
        }
    }

    @Test func `wrong recovery codes from other networks do not exhaust the holder's`() async throws
    {
        let scene = try await Scene()
        for number in 1...4 {
            try await scene.guess(of: scene.recoveryCodes, from: "192.0.2.\(number)")
        }
        let answer = try await scene.attempt(
            scene.holder.codes[0], of: scene.recoveryCodes, from: "192.0.2.9")
        #expect(answer.status == 200, "\(answer.body)")
    }

    @Test func `a device that has given the factor before is not locked out`() async throws {
        let scene = try await Scene()
        let known = try #require(try await scene.attempt(scene.code).text("device_token"))
        scene.service.clock.advance(seconds: 30)
        try await scene.guess(from: "192.0.2.1")
        try await scene.guess(from: "192.0.2.2")
        #expect(try await scene.attempt(scene.code, from: "192.0.2.3").status == 429)
        let rest = ",\"device_token\":\"\(known)\""
        let answer = try await scene.attempt(scene.code, from: "192.0.2.1", rest)
        #expect(answer.text("device_token") == known, "\(answer.body)")
        // It has limits of its own.
        scene.service.clock.advance(seconds: 30)
        try await scene.guess(from: "192.0.2.1", rest)
    }

    @Test func `a device is a stranger to the factor once all sessions have ended`() async throws {
        let scene = try await Scene()
        let signedIn = try await scene.attempt(scene.code)
        let known = try #require(signedIn.text("device_token"))
        scene.service.clock.advance(seconds: 30)
        let ended = try await scene.service.send(
            "POST", "/v1/auth/sign-out", "{\"everywhere\":true}",
            token: try Person(signedIn).accessToken)
        #expect(ended.status == 200)
        try await scene.guess(from: "192.0.2.1")
        try await scene.guess(from: "192.0.2.2")
        let answer = try await scene.attempt(
            scene.code, from: "192.0.2.1", ",\"device_token\":\"\(known)\"")
        #expect(answer.status == 429, "\(answer.body)")
    }

    @Test func `a device that changes the password stays known to the factor`() async throws {
        let scene = try await Scene()
        let service = scene.service
        let signedIn = try await scene.attempt(scene.code)
        let known = try #require(signedIn.text("device_token"))
        service.clock.advance(seconds: 30)
        let ada = try Person(signedIn)
        let sent = try await service.send(
            "POST", "/v1/account/codes/password", "{\"address\":\"ada@example.com\"}",
            token: ada.accessToken)
        let challenge = try #require(sent.text("challenge_id"), "\(sent.body)")
        let code = try #require(service.challenges.sent.last).message.code
        let linked = try await service.send(
            "POST", "/v1/auth/link/password",
            "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\",\"password\":\"a good password\"}",
            token: ada.accessToken)
        #expect(linked.status == 200, "\(linked.body)")
        let changed = try await service.send(
            "POST", "/v1/account/password",
            "{\"password\":\"another good password\",\"device_token\":\"\(known)\"}",
            token: ada.accessToken)
        let renewed = try #require(changed.text("device_token"), "\(changed.body)")
        #expect(renewed != known)
        try await scene.guess(from: "192.0.2.1")
        func attempt(_ token: String) async throws -> Int {
            try await scene.attempt(
                scene.code, from: "192.0.2.1", ",\"device_token\":\"\(token)\""
            ).status
        }
        #expect(try await attempt(known) == 429)
        #expect(try await attempt(renewed) == 200)
    }

    @Test func `a device token from before the enrolment is one of a stranger`() async throws {
        let service = try TestService {
            $0.codes = [.email]
            $0.proxies = "127.0.0.1"
        }
        func signIn() async throws -> Answer {
            let sent = try await service.send(
                "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}")
            let challenge = try #require(sent.text("challenge_id"))
            let code = try #require(service.challenges.sent.last).message.code
            return try await service.send(
                "POST", "/v1/auth/sign-in/email",
                "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}")
        }
        let first = try await signIn()
        let token = try #require(first.text("device_token"))
        let holder = try await service.enrol(try Person(first))
        let refused = try await signIn()
        let wrong = holder.app.wrongCode(at: service.clock.now.seconds)
        func finish(_ code: String, _ rest: String) async throws -> Answer {
            try await service.finish(refused, holder.factor, code, rest)
        }
        for _ in 0..<AddressCodes.triesPerNetwork {
            #expect(try await finish(wrong, "").status == 401)
        }
        let code = holder.app.code(at: service.clock.now.seconds)
        #expect(try await finish(code, ",\"device_token\":\"\(token)\"").status == 429)
    }

    @Test func `a factor is guessed at most a hundred times within 90 days`() async throws {
        let scene = try await Scene()
        let known = try #require(try await scene.attempt(scene.code).text("device_token"))
        let perHour = AddressCodes.triesPerAddress
        for hour in 0..<AddressCodes.factorTriesMax / perHour {
            for number in 0..<perHour {
                let answer = try await scene.attempt(
                    scene.wrong, from: "192.0.2.\(number)")
                #expect(answer.status == 401, "hour \(hour)")
            }
            scene.service.clock.advance(seconds: 3_601)
        }
        let limited = try await scene.attempt(scene.code)
        #expect(limited.summary == "429 RATE_LIMITED")
        // The device of the account holder is not locked out.
        let rest = ",\"device_token\":\"\(known)\""
        #expect(try await scene.attempt(scene.code, from: "192.0.2.1", rest).status == 200)
        scene.service.clock.advance(seconds: 89 * 86_400)
        #expect(try await scene.attempt(scene.code).status == 429)
        scene.service.clock.advance(seconds: 86_400)
        #expect(try await scene.attempt(scene.code).status == 200)
    }

    @Test func `public sign-ins by phone do not exhaust the codes of the factor`() async throws {
        let service = try TestService {
            $0.codes = [.email, .phone]
            $0.proxies = "127.0.0.1"
        }
        let ada = try await service.signIn("google", "ada")
        func code(_ sent: Answer, _ typed: String? = nil) throws -> String {
            let challenge = try #require(sent.text("challenge_id"), "\(sent.body)")
            let last = try #require(service.challenges.sent.last).message.code
            return "\"challenge_id\":\"\(challenge)\",\"code\":\"\(typed ?? last)\""
        }
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"phone\",\"phone\":\"\(Self.number)\"}", token: ada.accessToken)
        let enrolled = try await service.send(
            "POST", "/v1/account/factors", "{\(try code(begun))}", token: ada.accessToken)
        let factor = try #require(enrolled.text("factor_id"), "\(enrolled.body)")
        // The codes and the tries of the public sign-in by phone are used up.
        var isLimited = false
        for number in 0...AddressCodes.sendsPerAddress {
            let headers = [(name: "X-Forwarded-For", value: "192.0.2.\(number)")]
            let sent = try await service.send(
                "POST", "/v1/auth/codes/phone", "{\"address\":\"\(Self.number)\"}",
                headers: headers)
            guard sent.status == 200 else {
                isLimited = true
                continue
            }
            for _ in 1...StoredChallenge.triesMax {
                _ = try await service.send(
                    "POST", "/v1/auth/sign-in/phone", "{\(try code(sent, "x00000"))}",
                    headers: headers)
            }
        }
        #expect(isLimited)
        let other = try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"phone\",\"phone\":\"\(Self.number)\"}",
            token: service.signIn("google", "bob").accessToken)
        #expect(other.status == 200, "\(other.body)")
        let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
        let token = refused.detail("sign_in_token")?.string ?? ""
        func send(_ rest: String = "") async throws -> Answer {
            try await service.send(
                "POST", "/v1/auth/second-factor/code",
                "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\"\(rest)}")
        }
        let sent = try await send()
        let answer = try await service.send(
            "POST", "/v1/auth/second-factor",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\",\(try code(sent))}")
        #expect(answer.status == 200, "\(answer.body)")
        // Those of the factor have a limit, too.
        for _ in 1..<AddressCodes.sendsPerAddress { #expect(try await send().status == 200) }
        #expect(try await send().summary == "429 RATE_LIMITED")
        let device = try #require(answer.text("device_token"))
        #expect(try await send(",\"device_token\":\"\(device)\"").status == 200)
    }

    @Test func `wrong codes of a phone are limited over all challenges and networks`() async throws
    {
        let service = try TestService {
            $0.codes = [.phone]
            $0.proxies = "127.0.0.1"
        }
        let ada = try await service.signIn("google", "ada")
        func code(_ sent: Answer) throws -> (challenge: String, code: String) {
            (
                try #require(sent.text("challenge_id"), "\(sent.body)"),
                try #require(service.challenges.sent.last).message.code
            )
        }
        let begun = try code(
            try await service.send(
                "POST", "/v1/account/factor-enrolments",
                "{\"type\":\"phone\",\"phone\":\"\(Self.number)\"}", token: ada.accessToken))
        let enrolled = try await service.send(
            "POST", "/v1/account/factors",
            "{\"challenge_id\":\"\(begun.challenge)\",\"code\":\"\(begun.code)\"}",
            token: ada.accessToken)
        let factor = try #require(enrolled.text("factor_id"), "\(enrolled.body)")
        let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
        let token = refused.detail("sign_in_token")?.string ?? ""
        var clients = 0
        func finish(_ challenge: String, _ code: String) async throws -> String {
            clients += 1
            return try await service.finish(
                refused, factor, code, ",\"challenge_id\":\"\(challenge)\"",
                headers: [("X-Forwarded-For", "192.0.2.\(clients)")]
            ).summary
        }
        let perChallenge = AddressCodes.triesPerAddress / AddressCodes.sendsPerAddress
        try #require(perChallenge < StoredChallenge.triesMax)
        for number in 1...AddressCodes.sendsPerAddress {
            let sent = try code(
                try await service.send(
                    "POST", "/v1/auth/second-factor/code",
                    "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\"}"))
            for _ in 1...perChallenge {
                #expect(try await finish(sent.challenge, "x00000") == "401 INVALID_CODE")
            }
            if number == AddressCodes.sendsPerAddress {
                #expect(try await finish(sent.challenge, sent.code) == "429 RATE_LIMITED")
            }
        }
    }
}
