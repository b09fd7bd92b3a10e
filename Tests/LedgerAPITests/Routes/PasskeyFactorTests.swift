import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passkeys
import SoftwareAuthenticators
import Testing

extension TestService {
    /// Enrols a passkey as a second factor.
    func enrol(_ passkey: inout TestPasskey, by person: Person) async throws -> Answer {
        let begun = try await beginFactor(person)
        return try await enrolFactor(passkey.create(begun), by: person)
    }

    /// Makes the options of the enrolment of a passkey.
    fileprivate func beginFactor(_ person: Person) async throws -> Answer {
        try await send(
            "POST", "/v1/account/factor-enrolments/passkey", "{}", token: person.accessToken)
    }

    /// Enrols a second factor with the members of a body.
    fileprivate func enrolFactor(_ members: String, by person: Person) async throws -> Answer {
        try await send("POST", "/v1/account/factors", "{\(members)}", token: person.accessToken)
    }

    /// Makes the options of the second step of a refused sign-in.
    fileprivate func beginStep(_ refused: Answer, _ factor: String) async throws -> Answer {
        let token = try #require(refused.detail("sign_in_token")?.string, "\(refused.body)")
        return try await send(
            "POST", "/v1/auth/second-factor/passkey",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\"}")
    }

    /// Finishes a refused sign-in with the members of a body.
    fileprivate func finishStep(
        _ refused: Answer, _ factor: String, _ members: String
    ) async throws -> Answer {
        let token = try #require(refused.detail("sign_in_token")?.string, "\(refused.body)")
        return try await send(
            "POST", "/v1/auth/second-factor",
            "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(factor)\",\(members)}")
    }
}

/// Passkeys as second factors.
@Suite(.overBothTransports) struct PasskeyFactorTests {
    private static let wrong = "401 INVALID_CODE"

    /// Ada, who signs in with Google, with a passkey as her second factor.
    private struct Stage {
        var service: TestService
        var ada: Person
        var key = TestPasskey("factor")
        let factor: String

        init(
            count: UInt32 = 1, faults: CounterFaults = CounterFaults(), refusesRollback: Bool = true
        ) async throws {
            service = try TestService.withPasskeys(refusesCounterRollback: refusesRollback) {
                $0.proxies = "127.0.0.1"
                $0.counterFaults = faults
            }
            ada = try await service.signIn("google", "ada")
            key.authenticator.count = count
            // A touch is sufficient.
            key.authenticator.flags = SoftwareAuthenticator.userPresent
            let enrolled = try await service.enrol(&key, by: ada)
            try #require(enrolled.status == 200, "\(enrolled.body)")
            factor = try #require(enrolled.text("factor_id"))
            ada = try Person(try #require(enrolled.json["session"]?.members))
        }

        func refused() async throws -> Answer {
            try await service.postSignIn("google", service.idToken("google", "ada"))
        }

        /// Signs in with both steps; the counter goes up by a number.
        mutating func signIn(by step: UInt32 = 1) async throws -> Answer {
            let refused = try await refused()
            key.authenticator.count += step
            return try await service.finishStep(
                refused, factor, key.get(service.beginStep(refused, factor)))
        }
    }

    @Test func `a passkey is enrolled, and needed at each sign-in`() async throws {
        let service = try TestService.withPasskeys()
        let ada = try await service.signIn("google", "ada")
        var key = TestPasskey("factor")
        let begun = try await service.beginFactor(ada)
        let options = try #require(begun.json["options"]?.members)
        let selection = options["authenticatorSelection"]?.members
        #expect(selection?["residentKey"]?.string == "discouraged")
        #expect(selection?["userVerification"]?.string == "discouraged")
        let enrolled = try await service.enrolFactor(key.create(begun), by: ada)
        #expect(enrolled.status == 200, "\(enrolled.body)")
        #expect(enrolled.json["recovery_codes"]?.array?.count == 10)
        let factor = try #require(enrolled.text("factor_id"))
        let refused = try await service.postSignIn("google", service.idToken("google", "ada"))
        #expect(refused.summary == "403 SECOND_FACTOR_REQUIRED")
        let shown = refused.detail("factors")?.array?.first?.members
        #expect(shown?["type"]?.string == "passkey" && shown?["factor_id"]?.string == factor)
        let step = try await service.beginStep(refused, factor)
        let allowed = step.json["options"]?.members?["allowCredentials"]?.array
        #expect(allowed?.count == 1)
        key.authenticator.count += 1
        let members = try key.get(step)
        let finished = try await service.finishStep(refused, factor, members)
        #expect(finished.status == 200, "\(finished.body)")
        let person = try Person(finished)
        #expect(person.userID == ada.userID)
        #expect(person.methods == ["fed", "hwk", "mfa", "user"])
        // Each sign-in token and each response finishes one sign-in.
        #expect(try await service.finishStep(refused, factor, members).summary == Self.wrong)
        let removed = try await service.send(
            "DELETE", "/v1/account/factors/\(factor)", nil, token: person.accessToken)
        #expect(removed.status == 200)
        #expect(
            try await service.postSignIn("google", service.idToken("google", "ada")).status == 200)
    }

    @Test func `a response counts for its first step, its factor and its challenge`() async throws {
        var stage = try await Stage()
        let (service, factor) = (stage.service, stage.factor)
        var second = TestPasskey("second")
        let added = try await service.enrol(&second, by: stage.ada)
        let other = try #require(added.text("factor_id"), "\(added.body)")
        let refused = try await stage.refused()
        let later = try await stage.refused()
        // With counters that go up, so that nothing else refuses the responses.
        var key = stage.key
        key.authenticator.count = 9
        second.authenticator.count = 9
        let own = try await service.beginStep(refused, factor)
        let signInOptions = try await service.beginPasskey("get")
        var stranger = TestPasskey("factor")
        stranger.authenticator.count = 9
        for (what, members) in [
            ("of another first step", try key.get(await service.beginStep(later, factor))),
            ("of another factor", try second.get(await service.beginStep(refused, other))),
            ("of a sign-in", try key.get(signInOptions)), ("of another key", try stranger.get(own)),
            ("of a registration", try second.create(await service.beginFactor(stage.ada))),
            ("without a response", "\"challenge_id\":\"x\",\"credential\":{}"),
            ("a code", "\"code\":\"123456\""),
        ] {
            #expect(
                try await service.finishStep(refused, factor, members).summary == Self.wrong,
                "\(what)")
        }
        // The challenge of a factor signs in to nothing alone.
        let alone = try await service.signInByPasskey(key.get(own))
        #expect(alone.summary == "401 INVALID_PROVIDER_TOKEN")
        service.clock.advance(seconds: 1_500)
        #expect(try await stage.signIn().status == 200)
    }

    @Test func `strangers with the first proof use up no passkey`() async throws {
        var stage = try await Stage()
        for network in 1...12 {
            let refused = try await stage.refused()
            let token = try #require(refused.detail("sign_in_token")?.string)
            for _ in 1...10 {
                let answer = try await stage.service.send(
                    "POST", "/v1/auth/second-factor",
                    "{\"sign_in_token\":\"\(token)\",\"factor_id\":\"\(stage.factor)\","
                        + "\"challenge_id\":\"x\",\"credential\":{}}",
                    headers: [("X-Forwarded-For", "198.51.100.\(network)")])
                #expect(answer.summary == Self.wrong)
            }
        }
        #expect(try await stage.signIn().status == 200)
    }

    @Test func `a factor is for its domain, whatever other providers of passkeys there are`()
        async throws
    {
        var stage = try await Stage()
        let other = try #require(
            RelyingParty(
                id: "other.example", name: "Other", origins: ["https://other.example"]))
        stage.service = try stage.service.restarted {
            $0.morePasskeys = PasskeySettings(relyingParty: other)
        }
        #expect(try await stage.signIn().status == 200)
        stage.service = try stage.service.restarted {
            $0.passkeys = nil
            $0.morePasskeys = PasskeySettings(relyingParty: other)
        }
        let refused = try await stage.refused()
        #expect(try await stage.service.beginStep(refused, stage.factor).summary == Self.wrong)
    }

    @Test func `a counter that does not go up is refused, and one that is not kept is not`()
        async throws
    {
        let faults = CounterFaults()
        var stage = try await Stage(faults: faults)
        #expect(try await stage.signIn().status == 200)
        #expect(faults.all == [])
        #expect(try await stage.signIn(by: 0).summary == Self.wrong)
        #expect(faults.all == ["default \(stage.ada.userID)"])
        #expect(try await stage.signIn().status == 200)
        var silent = try await Stage(count: 0)
        for _ in 0..<2 { #expect(try await silent.signIn(by: 0).status == 200) }
    }

    @Test func `by the tenant's rule, a counter that does not go up is reported alone`()
        async throws
    {
        let faults = CounterFaults()
        var stage = try await Stage(count: 5, faults: faults, refusesRollback: false)
        #expect(try await stage.signIn(by: 0).status == 200)
        #expect(faults.all == ["default \(stage.ada.userID) accepted"])
        stage.key.authenticator.count = 2
        #expect(try await stage.signIn().status == 200)
        #expect(faults.all.count == 2)
        // It is above the counter that was set back.
        #expect(try await stage.signIn().status == 200)
        #expect(faults.all.count == 2)
    }

    @Test func `a registration counts for its session, once, and not for an identity`() async throws
    {
        let service = try TestService.withPasskeys()
        let ada = try await service.signIn("google", "ada")
        let bob = try await service.signIn("apple", "bob")
        var key = TestPasskey("factor")
        let members = try key.create(await service.beginFactor(ada))
        #expect(try await service.enrolFactor(members, by: bob).summary == Self.wrong)
        var linked = TestPasskey("identity")
        #expect(try await service.link(&linked, by: ada).status == 200)
        // Its authenticator is told of the passkey by which the account is reached.
        let begun = try await service.beginFactor(ada)
        let excluded = begun.json["options"]?.members?["excludeCredentials"]?.array
        #expect(excluded?.count == 1)
        #expect(
            try await service.enrolFactor(linked.create(begun), by: ada).summary == Self.wrong,
            "the key is an identity")
        #expect(
            try await service.enrolFactor(
                key.get(await service.beginPasskey("get")), by: ada
            ).summary == Self.wrong, "no registration")
        let link = try key.create(await service.beginPasskey("create", token: ada.accessToken))
        #expect(
            try await service.enrolFactor(link, by: ada).summary == Self.wrong, "made for a link")
        let enrolled = try await service.enrolFactor(members, by: ada)
        #expect(enrolled.status == 200, "\(enrolled.body)")
        let renewed = try Person(try #require(enrolled.json["session"]?.members))
        #expect(try await service.enrolFactor(members, by: renewed).summary == Self.wrong)
        for again in [
            try await service.beginFactor(renewed),
            try await service.beginPasskey("create", token: renewed.accessToken),
        ] {
            let known = again.json["options"]?.members?["excludeCredentials"]?.array
            #expect(known?.count == 2, "\(again.body)")
        }
        // An authenticator that ignores it gets no further.
        let stage = try await Stage()
        var factor = stage.key
        var signed = stage
        let holder = try Person(await signed.signIn())
        #expect(
            try await stage.service.link(&factor, by: holder).summary
                == "401 INVALID_PROVIDER_TOKEN", "the key is a factor")
    }

    @Test func `a passkey follows no passkey, and an account is left no such way alone`()
        async throws
    {
        let service = try TestService.withPasskeys()
        var identity = TestPasskey("identity")
        let ada = try await service.signUp(&identity)
        var key = TestPasskey("factor")
        let alone = try await service.enrol(&key, by: ada)
        #expect(alone.code == "FACTOR_REFUSED")
        #expect(alone.detail("reason")?.string == "same_kind")
        #expect(try await service.link("google", subject: "ada", by: ada).status == 200)
        let enrolled = try await service.enrol(&key, by: ada)
        #expect(enrolled.status == 200, "\(enrolled.body)")
        // Without user verification a second factor is required, and only recovery codes are of another kind.
        identity.authenticator.flags = SoftwareAuthenticator.userPresent
        let refused = try await service.signIn(&identity)
        #expect(refused.summary == "403 SECOND_FACTOR_REQUIRED")
        let kinds = refused.detail("factors")?.array?.compactMap { $0.members?["type"]?.string }
        #expect(kinds == ["recovery_codes"])
        identity.authenticator.flags |= SoftwareAuthenticator.userVerified
        let person = try Person(await service.signIn(&identity))
        let unlinked = try await service.unlink("google", by: person)
        #expect(unlinked.summary == "400 CANNOT_UNLINK_ONLY_PROVIDER", "\(unlinked.body)")
    }

    @Test func `the last factor that may follow a passkey is not removed`() async throws {
        let service = try TestService.withPasskeys()
        var identity = TestPasskey("identity")
        let ada = try await service.signUp(&identity)
        #expect(try await service.link("google", subject: "ada", by: ada).status == 200)
        let holder = try await service.enrol(ada)
        var key = TestPasskey("factor")
        #expect(try await service.enrol(&key, by: holder.person).status == 200)
        #expect(try await service.unlink("google", by: holder.person).status == 200)
        let refused = try await service.send(
            "DELETE", "/v1/account/factors/\(holder.factor)", nil,
            token: holder.person.accessToken)
        #expect(refused.code == "FACTOR_REFUSED")
        #expect(refused.detail("reason")?.string == "same_kind", "\(refused.body)")
    }
}
