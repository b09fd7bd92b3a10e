import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// The challenges of passkeys, merges, and passkeys beside second factors.
@Suite(.overBothTransports) struct PasskeyChallengeTests {
    private static let refused = "401 INVALID_PROVIDER_TOKEN"

    @Test func `a challenge is answered once`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let created = try passkey.create(await service.beginPasskey("create"))
        let ada = try Person(await service.signInByPasskey(created))
        #expect(try await service.signInByPasskey(created).summary == Self.refused)
        let begun = try await service.beginPasskey("get")
        passkey.authenticator.count = 2
        #expect(try await service.signInByPasskey(passkey.get(begun)).status == 200)
        passkey.authenticator.count = 3
        #expect(try await service.signInByPasskey(passkey.get(begun)).summary == Self.refused)
        let link = try await service.beginPasskey("create", token: ada.accessToken)
        for (id, status) in [("second", 200), ("third", 401)] {
            var other = TestPasskey(id)
            let linked = try await service.send(
                "POST", "/v1/auth/link/passkey", "{\(other.create(link))}",
                token: ada.accessToken)
            #expect(linked.status == status, "\(linked.body)")
        }
    }

    @Test func `a challenge expires after ten minutes`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let late = try passkey.create(await service.beginPasskey("create"))
        service.clock.advance(seconds: 600)
        #expect(try await service.signInByPasskey(late).summary == Self.refused)
        let punctual = try passkey.create(await service.beginPasskey("create"))
        service.clock.advance(seconds: 599)
        #expect(try await service.signInByPasskey(punctual).status == 200)
    }

    @Test func `a challenge is for one tenant`() async throws {
        let other = tenant("other")
        let service = try TestService.withPasskeys { $0.tenants = [.default, other] }
        var passkey = TestPasskey()
        let created = try passkey.create(await service.beginPasskey("create"))
        #expect(
            try await service.signInByPasskey(created, tenant: "/t/other").summary == Self.refused)
        #expect(try await service.signInByPasskey(created).status == 200)
        // So are passkeys.
        passkey.authenticator.count = 2
        let foreign = try passkey.get(await service.beginPasskey("get", tenant: "/t/other"))
        #expect(
            try await service.signInByPasskey(foreign, tenant: "/t/other").summary == Self.refused)
    }

    @Test func `a challenge is for one session and one purpose`() async throws {
        let service = try TestService.withPasskeys { $0.linkAttemptsMax = 100 }
        var passkey = TestPasskey()
        let ada = try await service.signUp(&passkey)
        let bob = try await service.signIn("google", "bob")
        passkey.authenticator.count = 5
        var new = TestPasskey("new")
        func link(_ members: String, by person: Person) async throws -> String {
            try await service.send(
                "POST", "/v1/auth/link/passkey", "{\(members)}", token: person.accessToken
            ).summary
        }
        func preview(_ members: String, by person: Person) async throws -> String {
            try await service.send(
                "POST", "/v1/account/merge/preview", "{\"provider\":\"passkey\",\(members)}",
                token: person.accessToken
            ).summary
        }
        let signUp = try new.create(await service.beginPasskey("create"))
        #expect(try await link(signUp, by: bob) == Self.refused)
        let adas = try new.create(await service.beginPasskey("create", token: ada.accessToken))
        #expect(try await link(adas, by: bob) == Self.refused)
        let again = try Person(await service.signIn(&passkey))
        #expect(try await link(adas, by: again) == Self.refused)
        #expect(try await service.signInByPasskey(adas).summary == Self.refused)
        passkey.authenticator.count += 1
        let signIn = try passkey.get(await service.beginPasskey("get"))
        #expect(try await preview(signIn, by: bob) == Self.refused)
        #expect(try await link(signIn, by: bob) == Self.refused)
        let merge = try passkey.get(await service.beginPasskey("get", token: bob.accessToken))
        #expect(try await service.signInByPasskey(merge).summary == Self.refused)
        #expect(try await link(merge, by: bob) == Self.refused)
        #expect(try await preview(merge, by: ada) == Self.refused)
        // Each still works for its own.
        #expect(try await service.signInByPasskey(signUp).status == 200)
        #expect(try await preview(merge, by: bob) == "200 OK")
        // A creation is no proof of an account.
        let creation = try new.create(await service.beginPasskey("create", token: bob.accessToken))
        #expect(try await preview(creation, by: bob) == Self.refused)
    }

    @Test func `a merge is agreed to with the passkey of the other account, for its plan`()
        async throws
    {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        var bobs = TestPasskey("bob")
        let ada = try await service.signUp(&passkey)
        let bob = try await service.signIn("google", "bob")
        #expect(try await service.link(&bobs, by: bob).status == 200)
        func begin(_ body: String = "{}") async throws -> String {
            passkey.authenticator.count += 1
            return try passkey.get(
                await service.beginPasskey("get", body, token: bob.accessToken))
        }
        func post(_ path: String, _ members: String) async throws -> Answer {
            try await service.send(
                "POST", path, "{\"provider\":\"passkey\",\(members)}", token: bob.accessToken)
        }
        let plan = try await post("/v1/account/merge/preview", begin())
        #expect(plan.text("absorbed_user_id") == ada.userID, "\(plan.body)")
        // Both keep their passkeys, so there is nothing to choose.
        #expect(plan.json["choices"]?.array?.isEmpty == true)
        let digest = try #require(plan.text("plan_digest"))
        let member = ",\"plan_digest\":\"\(digest)\""
        #expect(try await post("/v1/account/merge", begin() + member).summary == Self.refused)
        let other = try await begin(#"{"plan_digest":"other"}"#)
        #expect(try await post("/v1/account/merge", other + member).summary == Self.refused)
        let agreed = try await begin("{\"plan_digest\":\"\(digest)\"}")
        let merged = try await post("/v1/account/merge", agreed + member)
        #expect(merged.status == 200, "\(merged.body)")
        for var used in [passkey, bobs] {
            #expect(try Person(await service.signIn(&used)).userID == bob.userID)
        }
    }

    @Test func `a passkey that verified the person needs no second factor, others do`()
        async throws
    {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let holder = try await service.enrol(try await service.signUp(&passkey))
        let verified = try Person(await service.signIn(&passkey))
        #expect(verified.userID == holder.person.userID)
        // The session may change the account, as one with a factor.
        #expect(try await service.link("google", subject: "ada", by: verified).status == 200)
        passkey.authenticator.flags = SoftwareAuthenticator.userPresent
        let refused = try await service.signIn(&passkey)
        #expect(refused.summary == "403 SECOND_FACTOR_REQUIRED")
        // Nothing is used up yet; the counter is kept with the session.
        func finish(_ refused: Answer) async throws -> Answer {
            try await service.finish(
                refused, holder.factor, holder.app.code(at: service.clock.now.seconds))
        }
        let finished = try Person(await finish(refused))
        #expect(finished.methods == ["hwk", "mfa", "otp", "user"])
        service.clock.advance(seconds: 30)
        #expect(try await finish(refused).summary == Self.refused)
        // An older response, whose counter is behind by now, is completed no more.
        let early = try await service.signIn(&passkey)
        let late = try await service.signIn(&passkey)
        #expect(try await finish(late).status == 200)
        service.clock.advance(seconds: 30)
        #expect(try await finish(early).summary == Self.refused)
    }

    @Test func `the first step ends with the passkey`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let ada = try await service.signIn("google", "ada")
        #expect(try await service.link(&passkey, by: ada).status == 200)
        let holder = try await service.enrol(ada)
        passkey.authenticator.flags = SoftwareAuthenticator.userPresent
        let refused = try await service.signIn(&passkey)
        #expect(try await service.unlink("passkey", by: holder.person).status == 200)
        let answer = try await service.finish(
            refused, holder.factor, holder.app.code(at: service.clock.now.seconds))
        #expect(answer.summary == Self.refused)
    }

    @Test func `options are for providers of passkeys`() async throws {
        let service = try TestService.withPasskeys()
        let ada = try await service.signIn("google", "ada")
        for ceremony in ["create", "get"] {
            for provider in ["google", "nowhere", "UPPER"] {
                for (owner, token) in [("auth", nil), ("account", ada.accessToken)] {
                    let answer = try await service.send(
                        "POST", "/v1/\(owner)/passkeys/\(provider)/\(ceremony)", "{}",
                        token: token)
                    #expect(answer.summary == "400 UNSUPPORTED_PROVIDER")
                }
            }
            let ended = try await service.send(
                "POST", "/v1/account/passkeys/passkey/\(ceremony)", "{}")
            #expect(ended.summary == "401 INVALID_ACCESS_TOKEN")
        }
        // Sessions that ended get no challenge.
        _ = try await service.send(
            "POST", "/v1/auth/sign-out", "{}", token: ada.accessToken)
        for ceremony in ["create", "get"] {
            let answer = try await service.beginPasskey(ceremony, token: ada.accessToken)
            #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
        }
    }
}
