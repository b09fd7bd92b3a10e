import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Phones as second factors: enrolment, codes of one sign-in, and the first steps that they may follow.
@Suite(.overBothTransports) struct PhoneFactorTests {
    private static let number = "+4915123456789"

    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.codes = [.email, .phone]
            change(&$0)
        }
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func code(_ answer: Answer, _ service: TestService) throws -> String {
        let challenge = try #require(answer.text("challenge_id"), "\(answer.body)")
        let code = try #require(service.challenges.sent.last).message.code
        return "\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\""
    }

    private func begin(
        _ service: TestService, _ person: Person, _ number: String = number
    ) async throws -> Answer {
        try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"phone\",\"phone\":\"\(number)\"}", token: person.accessToken)
    }

    /// Enrols the phone of a person, and returns the factor's id.
    private func enrol(_ service: TestService, _ person: Person) async throws -> String {
        let begun = try await begin(service, person)
        let answer = try await service.send(
            "POST", "/v1/account/factors", "{\(try code(begun, service))}",
            token: person.accessToken)
        return try #require(answer.text("factor_id"), "\(answer.body)")
    }

    private func refused(_ service: TestService) async throws -> Answer {
        try await service.postSignIn("google", service.idToken("google", "ada"))
    }

    /// Sends the code of a refused sign-in.
    private func send(
        _ service: TestService, _ refused: Answer, _ factor: String
    ) async throws -> Answer {
        let token = refused.detail("sign_in_token")?.string ?? ""
        return try await service.send(
            "POST", "/v1/auth/second-factor/code",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\"}")
    }

    private func finish(
        _ service: TestService, _ refused: Answer, _ factor: String, _ code: String
    ) async throws -> Answer {
        let token = refused.detail("sign_in_token")?.string ?? ""
        return try await service.send(
            "POST", "/v1/auth/second-factor",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\",\(code)}")
    }

    @Test func `the code of a phone finishes the sign-in that it was sent for`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let factor = try await enrol(service, ada)
        let message = try #require(service.challenges.sent.last).message
        #expect(message.purpose == .secondFactor)
        #expect(message.account?.description == ada.userID, "it is erased with the account")
        let refused = try await refused(service)
        let shown = refused.detail("factors")?.array?.first?.members
        #expect(shown?["type"]?.string == "phone" && shown?["hint"]?.string == "6789")
        #expect(!refused.body.contains("4915"), "a first step reveals no number")
        let sent = try await send(service, refused, factor)
        #expect(sent.status == 200 && service.challenges.sent.last?.address == Self.number)
        let answer = try code(sent, service)
        // Another first step of the same person has its own code.
        let other = try await self.refused(service)
        #expect(try await finish(service, other, factor, answer).summary == "401 INVALID_CODE")
        let again = try Person(await finish(service, refused, factor, answer))
        #expect(again.userID == ada.userID && again.methods == ["fed", "mfa", "sms"])
        #expect(try await finish(service, refused, factor, answer).summary == "401 INVALID_CODE")
    }

    @Test func `strangers can't use up the tenant's messages for second factors`() async throws {
        let service = try service { $0.smsPerHour = 5 }
        let factor = try await enrol(service, service.signIn("google", "ada"))
        for number in 0..<4 {
            let answer = try await service.send(
                "POST", "/v1/auth/codes/phone", "{\"address\":\"+491512346000\(number)\"}")
            #expect(answer.status == (number < 3 ? 200 : 429))
        }
        #expect(try await send(service, refused(service), factor).status == 200)
    }

    @Test func `the code of a second factor answers nothing else`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let begun = try await begin(service, ada)
        let enrolment = try code(begun, service)
        for (path, body) in [
            ("/v1/auth/sign-in/phone", "{\(enrolment)}"),
            ("/v1/auth/link/phone", "{\(enrolment)}"),
            ("/v1/account/merge/preview", "{\"provider\":\"phone\",\(enrolment)}"),
        ] {
            let answer = try await service.send("POST", path, body, token: ada.accessToken)
            #expect(answer.summary == "401 INVALID_CODE", "\(path)")
        }
        // And the code of a sign-in or a link is no second factor.
        let linking = try await service.send(
            "POST", "/v1/account/codes/phone", "{\"address\":\"\(Self.number)\"}",
            token: ada.accessToken)
        #expect(
            try await service.send(
                "POST", "/v1/account/factors", "{\(try code(linking, service))}",
                token: ada.accessToken
            ).summary == "401 INVALID_CODE")
        let bob = try await service.signIn("apple", "bob")
        #expect(
            try await service.send(
                "POST", "/v1/account/factors", "{\(enrolment)}", token: bob.accessToken
            ).summary == "401 INVALID_CODE")
        let factor = try await enrol(service, ada)
        let refused = try await refused(service)
        let sent = try await send(service, refused, factor)
        let answer = try await service.send(
            "POST", "/v1/auth/sign-in/phone", "{\(try code(sent, service))}")
        #expect(answer.summary == "401 INVALID_CODE")
    }

    @Test func `a right code of a second factor counts as a wrong one of a sign-in by phone`()
        async throws
    {
        let service = try service()
        let factor = try await enrol(service, try await service.signIn("google", "ada"))
        let refused = try await refused(service)
        func signIn(_ sent: Answer) async throws -> String {
            try await service.send(
                "POST", "/v1/auth/sign-in/phone", "{\(try code(sent, service))}"
            ).summary
        }
        for _ in 0..<AddressCodes.triesPerNetwork / StoredChallenge.triesMax {
            let sent = try await send(service, refused, factor)
            for _ in 1...StoredChallenge.triesMax {
                #expect(try await signIn(sent) == "401 INVALID_CODE")
            }
            // These were the tries of its own use, too.
            let answer = try await finish(service, refused, factor, try code(sent, service))
            #expect(answer.summary == "401 INVALID_CODE")
        }
        let sent = try await send(service, refused, factor)
        #expect(try await signIn(sent) == "429 RATE_LIMITED")
        // The counts of the factor are others.
        let answer = try await finish(service, refused, factor, try code(sent, service))
        #expect(answer.status == 200, "\(answer.body)")
    }

    @Test func `a phone follows no code that was sent to a phone`() async throws {
        let service = try service()
        let signedUp = try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(Self.number)\"}")
        let ada = try Person(
            await service.send(
                "POST", "/v1/auth/sign-in/phone", "{\(try code(signedUp, service))}"))
        let begun = try await begin(service, ada, "+4915123456780")
        let refusal = try await service.send(
            "POST", "/v1/account/factors", "{\(try code(begun, service))}",
            token: ada.accessToken)
        #expect(refusal.summary == "409 FACTOR_REFUSED")
        #expect(refusal.detail("reason")?.string == "same_kind")
        // With another way to sign in it is one, but only for that way.
        #expect(try await service.link("google", subject: "ada", by: ada).status == 200)
        service.clock.advance(seconds: 3_600)
        let fresh = try await service.signIn("google", "ada")
        let factor = try await enrol(service, fresh)
        let next = try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"\(Self.number)\"}")
        let first = try await service.send(
            "POST", "/v1/auth/sign-in/phone", "{\(try code(next, service))}")
        let types = first.detail("factors")?.array?.compactMap { $0.members?["type"]?.string }
        #expect(types == ["recovery_codes"], "\(first.body)")
        #expect(try await send(service, first, factor).summary == "401 INVALID_CODE")
    }

    @Test func `phones need a tenant that sends messages, and a number in its countries`()
        async throws
    {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        for number in ["", "12", "+12015550123", "+15005550006"] {
            #expect(
                try await begin(service, ada, number).summary == "400 INVALID_REQUEST", "\(number)")
        }
        let without = try service.restarted { $0.codes = [.email] }
        #expect(try await begin(without, ada).summary == "400 UNSUPPORTED_PROVIDER")
        let answer = try await service.send(
            "POST", "/v1/account/factors", "{\"code\":\"123456\"}", token: ada.accessToken)
        #expect(answer.summary == "400 INVALID_REQUEST")
    }

    @Test func `wrong codes of a phone are limited`() async throws {
        let service = try service()
        let factor = try await enrol(service, try await service.signIn("google", "ada"))
        let refused = try await refused(service)
        let sent = try await send(service, refused, factor)
        let answer = try code(sent, service)
        let wrong = answer.replacing(/"code":"\d/) { "\"code\":\"x" + "\($0.output.suffix(0))" }
        for _ in 1...StoredChallenge.triesMax {
            #expect(
                try await finish(service, refused, factor, wrong).summary == "401 INVALID_CODE")
        }
        #expect(try await finish(service, refused, factor, answer).summary == "401 INVALID_CODE")
    }
}
