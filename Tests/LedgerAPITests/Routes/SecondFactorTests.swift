import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Testing

/// Second factors: enrolment, sign-ins in two steps, limits, and the changes that need one.
@Suite(.overBothTransports) struct SecondFactorTests {
    private static let password = "correct horse battery staple"

    private func service(
        _ change: (inout TestService.Options) -> Void = { _ in }
    ) throws -> TestService {
        try TestService {
            $0.codes = [.email, .phone]
            $0.passwords = PasswordRule(lengthMin: 8)
            change(&$0)
        }
    }

    private func refused(
        _ service: TestService, _ subject: String = "ada", tenant: String = ""
    ) async throws -> Answer {
        try await service.postSignIn(
            "google", service.idToken("google", subject), tenant: tenant)
    }

    private func code(_ holder: FactorHolder, _ service: TestService) -> String {
        holder.app.code(at: service.clock.now.seconds)
    }

    @Test func `a sign-in needs the code of the app, and says so with the factors`() async throws {
        let service = try service()
        let first = try await service.signIn("google", "ada")
        let ada = try await service.enrol(first)
        #expect(ada.codes.count == 10 && Set(ada.codes).count == 10)
        #expect(ada.person.userID == first.userID)
        // The first factor ended the session without one.
        #expect(try await service.account(first.accessToken).status == 401)
        #expect(try await service.account(ada.person.accessToken).status == 200)
        let refused = try await refused(service)
        #expect(refused.summary == "403 SECOND_FACTOR_REQUIRED")
        #expect(refused.detail("expires_in")?.number == 300)
        let factors = refused.detail("factors")?.array ?? []
        #expect(factors.count == 2)
        #expect(factors.first?.members?["factor_id"]?.string == ada.factor)
        #expect(factors.compactMap { $0.members?["type"]?.string } == ["totp", "recovery_codes"])
        let again = try Person(
            await service.finish(refused, ada.factor, code(ada, service)))
        #expect(again.userID == first.userID && !again.isNew)
        #expect(again.methods == ["fed", "mfa", "otp"])
        // The token and the code are used up.
        #expect(
            try await service.finish(refused, ada.factor, code(ada, service)).summary
                == "401 INVALID_CODE")
        let next = try await self.refused(service)
        #expect(
            try await service.finish(next, ada.factor, code(ada, service)).summary
                == "401 INVALID_CODE")
        service.clock.advance(seconds: 30)
        #expect(try await service.finish(next, ada.factor, code(ada, service)).status == 200)
    }

    @Test func `the account shows the factors whose removal support planned`() async throws {
        let service = try service()
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        let token = ada.person.accessToken
        #expect(try await service.account(token).json["factor_removals"] == nil)
        let planned = try await service.send(
            "POST", "/v1/accounts/\(ada.person.userID)/factors/\(ada.factor)/removal",
            #"{"case":"T-7"}"#, token: try service.audit.key(.support),
            headers: [(name: "Ledger-Reason", value: "lost phone")])
        #expect(planned.summary == "200 OK", "\(planned.body)")
        let due = try #require(planned.text("removal_due"))
        let shown = try await service.account(token).json["factor_removals"]?.array ?? []
        #expect(shown.map { $0.members?["factor_id"]?.string } == [ada.factor])
        #expect(shown.map { $0.members?["removal_due"]?.string } == [due])
        let kept = try await service.send(
            "POST", "/v1/account/factors/\(ada.factor)/keep", "{}", token: token)
        #expect(kept.status == 200, "\(kept.body)")
        #expect(try await service.account(token).json["factor_removals"] == nil)
    }

    @Test func `a sign-in token lasts five minutes, in its tenant`() async throws {
        let other = try #require(TenantID("other"))
        let service = try service { $0.tenants = [.default, other] }
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        let refused = try await refused(service)
        #expect(
            try await service.finish(
                refused, ada.factor, code(ada, service), tenant: "/t/other"
            ).summary == "401 INVALID_CODE")
        let kept = try await self.refused(service)
        service.clock.advance(seconds: 299)
        #expect(try await service.finish(kept, ada.factor, code(ada, service)).status == 200)
        service.clock.advance(seconds: 1)
        #expect(
            try await service.finish(refused, ada.factor, code(ada, service)).summary
                == "401 INVALID_CODE")
        service.clock.advance(seconds: 30)
        // Neither a changed token nor one of an enrolment.
        let late = try await self.refused(service)
        let token = try #require(late.detail("sign_in_token")?.string)
        let changed = String(token.dropLast(2)) + (token.hasSuffix("AA") ? "BB" : "AA")
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments", "{\"type\":\"totp\"}",
            token: ada.person.accessToken)
        for other in [changed, try #require(begun.text("enrolment_token"))] {
            #expect(
                try await service.send(
                    "POST", "/v1/auth/second-factor",
                    "{\"sign_in_token\":\"\(other)\",\"factor_id\":\"\(ada.factor)\",\"code\":\"\(code(ada, service))\"}"
                ).summary == "401 INVALID_CODE")
        }
        #expect(try await service.finish(late, ada.factor, code(ada, service)).status == 200)
    }

    @Test func `recovery codes work once, in any case, and are replaced`() async throws {
        let service = try service()
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        let refused = try await refused(service)
        let set = try #require(
            refused.detail("factors")?.array?.last?.members?["factor_id"]?.string)
        let typed = ada.codes[3].lowercased().replacing("-", with: " ")
        let signedIn = try Person(await service.finish(refused, set, typed))
        let again = try await self.refused(service)
        #expect(try await service.finish(again, set, ada.codes[3]).summary == "401 INVALID_CODE")
        #expect(try await service.finish(again, ada.factor, ada.codes[4]).status == 401)
        let listed = try await service.send(
            "GET", "/v1/account/factors", token: signedIn.accessToken)
        let left = listed.json["factors"]?.array?.last?.members?["codes_left"]?.number
        #expect(left == 9, "\(listed.body)")
        let renewed = try await service.send(
            "POST", "/v1/account/recovery-codes", token: signedIn.accessToken)
        let codes = renewed.json["recovery_codes"]?.array?.compactMap(\.string) ?? []
        #expect(codes.count == 10 && Set(codes).isDisjoint(with: ada.codes))
        let third = try await self.refused(service)
        #expect(try await service.finish(third, set, ada.codes[5]).status == 401)
        let renewedSet = try #require(
            third.detail("factors")?.array?.last?.members?["factor_id"]?.string)
        #expect(renewedSet != set)
        #expect(try await service.finish(third, renewedSet, codes[0]).status == 200)
        #expect(
            service.ledger.events().map(\.name).count { $0 == .recoveryCodeUsed } == 2)
    }

    @Test func `each kind of first proof is completed, and used up only then`() async throws {
        let service = try service()
        let begun = try await service.send(
            "POST", "/v1/auth/sign-up/password",
            "{\"email\":\"ada@example.com\",\"password\":\"\(Self.password)\"}")
        let person = try Person(
            await service.send(
                "POST", "/v1/auth/sign-in/password", try answer(begun, service)))
        let ada = try await service.enrol(person)
        let password = try await service.send(
            "POST", "/v1/auth/sign-in/password",
            "{\"email\":\"ada@example.com\",\"password\":\"\(Self.password)\"}")
        let finished = try await service.finish(password, ada.factor, code(ada, service))
        #expect(try Person(finished).userID == person.userID)
        #expect(finished.text("device_token") != nil)
        service.clock.advance(seconds: 30)
        // A password that was replaced meanwhile proves nothing any more.
        let old = try await service.send(
            "POST", "/v1/auth/sign-in/password",
            "{\"email\":\"ada@example.com\",\"password\":\"\(Self.password)\"}")
        let changed = try await service.send(
            "POST", "/v1/account/password", "{\"password\":\"another horse staple\"}",
            token: try Person(finished).accessToken)
        #expect(changed.status == 200, "\(changed.body)")
        // The change does not renew the ten minutes of the factor.
        #expect(try Person(changed).methods == ["otp", "pwd"])
        #expect(
            try await service.finish(old, ada.factor, code(ada, service)).summary
                == "401 INVALID_PASSWORD")
    }

    /// Returns the body that answers the challenge of an answer with the last code.
    private func answer(_ answer: Answer, _ service: TestService) throws -> String {
        let challenge = try #require(answer.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        return "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"
    }

    @Test func `a code by e-mail completes one sign-in, whatever was tried with it before`()
        async throws
    {
        let service = try service()
        func sendCode() async throws -> String {
            try answer(
                await service.send(
                    "POST", "/v1/auth/codes/email", "{\"address\":\"ada@example.com\"}"), service)
        }
        func signIn(_ code: String) async throws -> Answer {
            try await service.send("POST", "/v1/auth/sign-in/email", code)
        }
        let ada = try await service.enrol(try Person(await signIn(try await sendCode())))
        let sent = try await sendCode()
        let first = try await signIn(sent)
        let second = try await signIn(sent)
        #expect(first.status == 403 && second.status == 403)
        #expect(try await service.finish(first, ada.factor, code(ada, service)).status == 200)
        service.clock.advance(seconds: 30)
        #expect(
            try await service.finish(second, ada.factor, code(ada, service)).summary
                == "401 INVALID_CODE")
        #expect(try await signIn(sent).summary == "401 INVALID_CODE")
    }

    @Test func `an ID token for one session completes one sign-in`() async throws {
        let service = try service { $0.singleUseIDTokens = [.default] }
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        let token = service.idToken("google", "ada")
        let first = try await service.postSignIn("google", token)
        let second = try await service.postSignIn("google", token)
        #expect(try await service.finish(first, ada.factor, code(ada, service)).status == 200)
        service.clock.advance(seconds: 90)
        #expect(
            try await service.finish(second, ada.factor, code(ada, service)).summary
                == "401 INVALID_PROVIDER_TOKEN")
    }

    @Test func `wrong codes are limited, by network and by account, and recovery codes stay open`()
        async throws
    {
        let service = try service { $0.proxies = "127.0.0.1" }
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        let wrong = ada.app.wrongCode(at: service.clock.now.seconds)
        func attempt(from client: String, _ code: String) async throws -> Answer {
            try await service.finish(
                try await refused(service), ada.factor, code,
                headers: [("X-Forwarded-For", client)])
        }
        for number in 0..<2 {
            for _ in 0..<AddressCodes.triesPerNetwork {
                #expect(
                    try await attempt(from: "192.0.2.\(number)", wrong).summary
                        == "401 INVALID_CODE")
            }
            let limited = try await attempt(from: "192.0.2.\(number)", code(ada, service))
            #expect(limited.summary == "429 RATE_LIMITED" && limited["Retry-After"] != nil)
        }
        // Also from elsewhere: a code of six digits can be guessed.
        #expect(try await attempt(from: "192.0.2.9", code(ada, service)).status == 429)
        let last = try await refused(service)
        let set = try #require(
            last.detail("factors")?.array?.last?.members?["factor_id"]?.string)
        #expect(try await service.finish(last, set, ada.codes[0]).status == 200)
        #expect(
            service.ledger.events().map(\.name).count { $0 == .secondFactorRefused } == 1)
        service.clock.advance(seconds: 3_600)
        #expect(try await attempt(from: "192.0.2.9", code(ada, service)).status == 200)
    }

    @Test func `an enrolment is of one session, within ten minutes, by the code`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        let begun = try await service.send(
            "POST", "/v1/account/factor-enrolments",
            "{\"type\":\"totp\",\"issuer\":\"Example Ltd\",\"account_name\":\"ada@x.test\"}",
            token: ada.accessToken)
        #expect(
            begun.text("uri")?.hasPrefix("otpauth://totp/Example%20Ltd:ada%40x.test?secret=")
                == true, "\(begun.body)")
        let token = try #require(begun.text("enrolment_token"))
        let app = try #require(begun.text("secret").flatMap { AuthenticatorApp(base32: $0) })
        func confirm(_ code: String, by person: Person) async throws -> String {
            try await service.send(
                "POST", "/v1/account/factors",
                "{\"enrolment_token\":\"\(token)\",\"code\":\"\(code)\"}",
                token: person.accessToken
            ).summary
        }
        let now = service.clock.now.seconds
        #expect(try await confirm(app.wrongCode(at: now), by: ada) == "401 INVALID_CODE")
        let other = try await service.signIn("google", "ada")
        #expect(try await confirm(app.code(at: now), by: other) == "401 INVALID_CODE")
        service.clock.advance(seconds: 601)
        let fresh = try await service.signIn("google", "ada")
        #expect(try await confirm(app.code(at: now + 601), by: fresh) == "401 INVALID_CODE")
        for name in ["", "a:b"] {
            #expect(
                try await service.send(
                    "POST", "/v1/account/factor-enrolments",
                    "{\"type\":\"totp\",\"issuer\":\"\(name)\"}", token: fresh.accessToken
                ).summary == "400 INVALID_REQUEST")
        }
        #expect(
            try await service.send(
                "POST", "/v1/account/factor-enrolments", "{\"type\":\"sms\"}",
                token: fresh.accessToken
            ).summary == "400 INVALID_REQUEST")
    }

    @Test func `the flow of an app: link refused, sign-in in two steps, merge`() async throws {
        let service = try service()
        let holder = try await service.enrol(try await service.signIn("google", "ada"))
        let bob = try await service.signIn("apple", "bob")
        let token = service.idToken("google", "ada")
        #expect(try await service.link("google", token, by: bob).summary == "409 PROVIDER_CONFLICT")
        // A proof of the identity alone does not prove the factor of the account that Bob's would absorb.
        let proof = service.idToken("google", "ada")
        let preview = try await service.send(
            "POST", "/v1/account/merge/preview",
            "{\"provider\":\"google\",\"id_token\":\"\(proof)\"}", token: bob.accessToken)
        #expect(preview.summary == "409 SECOND_FACTOR_ENROLLED")
        let refused = try await service.postSignIn("google", token)
        let ada = try Person(
            await service.finish(refused, holder.factor, code(holder, service)))
        let apple = service.idToken("apple", "bob")
        let planned = try await service.send(
            "POST", "/v1/account/merge/preview",
            "{\"provider\":\"apple\",\"id_token\":\"\(apple)\"}", token: ada.accessToken)
        let digest = try #require(planned.text("plan_digest"), "\(planned.body)")
        let agreed = service.idToken("apple", "bob", claims: ["nonce": "\"\(digest)\""])
        let merged = try await service.send(
            "POST", "/v1/account/merge",
            "{\"provider\":\"apple\",\"id_token\":\"\(agreed)\",\"plan_digest\":\"\(digest)\"}",
            token: ada.accessToken)
        #expect(merged.status == 200, "\(merged.body)")
        #expect(try await service.account(ada.accessToken).text("user_id") == ada.userID)
    }

    @Test func `a session without the factor, or an old one, changes nothing`() async throws {
        let service = try service()
        let ada = try await service.enrol(try await service.signIn("google", "ada"))
        service.clock.advance(seconds: 601)
        let refreshed = try await service.refresh(ada.person.refreshToken)
        let token = try #require(refreshed.text("access_token"))
        let late = "403 REAUTHENTICATION_REQUIRED"
        let person = try Person(refreshed)
        #expect(try await service.link("apple", subject: "ada", by: person).summary == late)
        #expect(
            try await service.send(
                "DELETE", "/v1/account/factors/\(ada.factor)", token: token
            ).summary == late)
        #expect(
            try await service.send("POST", "/v1/account/recovery-codes", token: token).summary
                == late)
        let again = try Person(
            await service.finish(try await refused(service), ada.factor, code(ada, service)))
        #expect(try await service.link("apple", subject: "ada", by: again).status == 200)
        let removed = try await service.send(
            "DELETE", "/v1/account/factors/\(ada.factor)", token: again.accessToken)
        #expect(removed.json["factors"]?.array?.isEmpty == true, "\(removed.body)")
        #expect(try await refused(service).status == 200)
    }

    @Test func `secrets and codes take no idempotency key`() async throws {
        let service = try service()
        let ada = try await service.signIn("google", "ada")
        for (path, body) in [
            ("/v1/account/factor-enrolments", "{\"type\":\"totp\"}"),
            ("/v1/account/factors", "{\"enrolment_token\":\"x\",\"code\":\"1\"}"),
            ("/v1/account/recovery-codes", "{}"),
        ] {
            let answer = try await service.send(
                "POST", path, body, token: ada.accessToken, headers: [("Idempotency-Key", "k")])
            #expect(answer.summary == "400 INVALID_REQUEST", "\(path)")
        }
    }
}
