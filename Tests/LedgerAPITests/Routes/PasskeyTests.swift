import JSON
import Ledger
import LedgerSignIn
import LedgerTestSupport
import SoftwareAuthenticators
import Testing

/// Passkeys as identities: sign-up, sign-in, links, and the checks of a response.
@Suite(.overBothTransports) struct PasskeyTests {
    private static let refused = "401 INVALID_PROVIDER_TOKEN"

    @Test func `a passkey opens an account and signs in to it`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let begun = try await service.beginPasskey(
            "create", #"{"user_name":"ada@example.com","display_name":"Ada"}"#)
        #expect(begun.json["expires_in"]?.number == 600)
        let options = try #require(begun.json["options"]?.members)
        let user = options["user"]?.members
        #expect(user?["name"]?.string == "ada@example.com")
        #expect(user?["displayName"]?.string == "Ada")
        #expect(options["rp"]?.members?["id"]?.string == "example.com")
        let ada = try Person(await service.signInByPasskey(passkey.create(begun)))
        #expect(ada.isNew && ada.providers == ["passkey"])
        #expect(ada.methods == ["hwk", "mfa", "user"])
        #expect(
            service.log().suffix(4) == [
                "AccountOpened", "ProviderLinked", "PasskeyRegistered", "SignedIn",
            ])
        let again = try Person(await service.signIn(&passkey))
        #expect(again.userID == ada.userID && !again.isNew)
        passkey.authenticator.flags = SoftwareAuthenticator.userPresent
        #expect(try Person(await service.signIn(&passkey)).methods == ["hwk", "user"])
    }

    @Test func `the options of a sign-in are the same for everybody`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let before = try await service.beginPasskey("get").json["options"]?.members
        _ = try await service.signUp(&passkey)
        let after = try await service.beginPasskey("get").json["options"]?.members
        #expect(before?["allowCredentials"]?.array?.isEmpty == true)
        #expect(before?["challenge"] != after?["challenge"])
        for name in ["rpId", "timeout", "userVerification", "allowCredentials"] {
            #expect(before?[name] != nil && before?[name] == after?[name], "\(name)")
        }
    }

    @Test func `names are optional, and not empty for the browser`() async throws {
        let service = try TestService.withPasskeys()
        for body in ["{}", #"{"user_name":"","display_name":null}"#] {
            let begun = try await service.beginPasskey("create", body)
            let user = begun.json["options"]?.members?["user"]?.members
            #expect(user?["name"]?.string == "Example" && user?["displayName"]?.string == "")
        }
    }

    @Test func `an unknown passkey is refused, and opens no account`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        #expect(try await service.signIn(&passkey).summary == Self.refused)
        #expect(service.log() == [])
        // The response to a sign-up with `create_account` false opens no account either.
        let created = try passkey.create(await service.beginPasskey("create"))
        #expect(
            try await service.signInByPasskey("\(created),\"create_account\":false").summary
                == "404 ACCOUNT_NOT_FOUND")
    }

    @Test func `a client network opens as many accounts with passkeys as its limit`() async throws {
        let party = try #require(SoftwareAuthenticator.relyingParty)
        let service = try TestService.withPasskeys {
            $0.passkeys = PasskeySettings(
                relyingParty: party, budget: OpeningBudget(networkLimit: 1, tenantLimit: 100))
        }
        var phone = TestPasskey("phone")
        let ada = try await service.signUp(&phone)
        let count = service.log().count
        var second = TestPasskey("second")
        let response = try second.create(await service.beginPasskey("create"))
        let refused = try await service.signInByPasskey(response)
        #expect(refused.summary == "429 RATE_LIMITED" && refused["Retry-After"] == "3600")
        #expect(service.log().count == count)
        // Sign-ins and links open no account.
        #expect(try Person(await service.signIn(&phone)).userID == ada.userID)
        var key = TestPasskey("key")
        #expect(try await service.link(&key, by: ada).providers == ["passkey"])
    }

    @Test func `a passkey is registered once`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        let ada = try await service.signUp(&passkey)
        let second = try passkey.create(await service.beginPasskey("create"))
        #expect(try await service.signInByPasskey(second).summary == Self.refused)
        #expect(try await service.link(&passkey, by: ada).summary == "409 PROVIDER_CONFLICT")
        // The id of a passkey is no secret, so a stranger learns nothing by it and leaves no trace at its holder.
        let bob = try await service.signIn("google", "bob")
        let count = service.log().count
        #expect(try await service.link(&passkey, by: bob).summary == Self.refused)
        #expect(service.log().count == count)
        #expect(service.log().count { $0 == "PasskeyRegistered" } == 1)
    }

    @Test func `several passkeys are linked to one account, with one handle`() async throws {
        let service = try TestService.withPasskeys()
        var phone = TestPasskey("phone")
        var key = TestPasskey("key")
        let ada = try await service.signUp(&phone)
        let begun = try await service.beginPasskey("create", token: ada.accessToken)
        let options = try #require(begun.json["options"]?.members)
        let excluded = options["excludeCredentials"]?.array?.compactMap {
            $0.members?["id"]?.string
        }
        #expect(excluded == ["cGhvbmU"])
        #expect(options["user"]?.members?["id"]?.string == phone.handle)
        let linked = try await service.link(&key, by: ada)
        #expect(linked.providers == ["passkey"])
        #expect(key.handle == phone.handle)
        let account = try await service.account(ada.accessToken)
        #expect(account.json["identities"]?.array?.count == 2)
        #expect(try Person(await service.signIn(&key)).userID == ada.userID)
        #expect(try Person(await service.signIn(&phone)).userID == ada.userID)
        // Another account's passkeys have another handle.
        var other = TestPasskey("other")
        _ = try await service.link(&other, by: await service.signIn("google", "bob"))
        #expect(other.handle != nil && other.handle != phone.handle)
    }

    @Test func `a passkey beside one that a merge brought has a handle of its own`() async throws {
        let service = try TestService.withPasskeys()
        var absorbed = TestPasskey("absorbed")
        let other = try await service.signUp(&absorbed)
        let ada = try await service.signIn("google", "ada")
        let key = try service.audit.key(.support)
        func post(_ path: String, _ members: String) async throws -> Answer {
            try await service.send(
                "POST", "/v1/accounts/\(ada.userID)/\(path)",
                "{\"absorb\":\"\(other.userID)\"\(members)}", token: key,
                headers: MergeStory.reason)
        }
        let digest = try #require(try await post("merge/preview", "").text("plan_digest"))
        let merged = try await post("merge", ",\"plan_digest\":\"\(digest)\",\"case\":\"T-1\"")
        #expect(merged.status == 200)
        var own = TestPasskey("own")
        #expect(try await service.link(&own, by: ada).status == 200)
        #expect(own.handle != nil && own.handle != absorbed.handle)
        var second = TestPasskey("second")
        #expect(try await service.link(&second, by: ada).status == 200)
        #expect(second.handle == own.handle)
    }

    @Test func `an unlinked passkey signs in no more, and support can't relink it`()
        async throws
    {
        let service = try TestService.withPasskeys()
        var lost = TestPasskey("lost")
        var key = TestPasskey("key")
        let ada = try await service.signUp(&lost)
        #expect(try await service.link(&key, by: ada).status == 200)
        let fresh = try Person(await service.signIn(&key))
        let unnamed = try await service.unlink("passkey", by: fresh)
        #expect(unnamed.detail("parameter")?.string == "identity_id", "\(unnamed.body)")
        let account = try await service.account(fresh.accessToken)
        let identity = try #require(
            account.json["identities"]?.array?.first?.members?["identity_id"]?.string)
        let unlinked = try await service.unlink(
            "passkey", by: fresh, query: "?identity_id=\(identity)")
        #expect(unlinked.status == 200, "\(unlinked.body)")
        #expect(try await service.signIn(&lost).summary == Self.refused)
        let subjects = service.ledger.recordings().flatMap(\.disclosed).filter {
            $0.name == .providerID
        }
        let subject = try #require(
            subjects.first.flatMap { disclosure in
                ProviderName("passkey").flatMap {
                    Subject(provider: $0, providerID: disclosure.value)
                }
            })
        #expect(try await service.ledger.passkey(of: subject, in: .default) == nil)
        let relink = try await service.send(
            "POST", "/v1/accounts/\(ada.userID)/identities/\(identity)/relink",
            #"{"case":"T-1"}"#, token: try service.audit.key(.support),
            headers: [("Ledger-Reason", "case 1")])
        #expect(relink.summary == "409 RELINK_REFUSED")
        #expect(relink.detail("reason")?.string == "passkey")
        #expect(try Person(await service.signIn(&key)).userID == ada.userID)
        // The last passkey stays.
        let last = try await service.unlink("passkey", by: try Person(service.signIn(&key)))
        #expect(last.summary == "400 CANNOT_UNLINK_ONLY_PROVIDER")
        // The same authenticator may register again, with a new challenge.
        #expect(try await service.link(&lost, by: fresh).status == 200)
        #expect(try Person(await service.signIn(&lost)).userID == ada.userID)
    }

    @Test func `a counter that stays or goes back is refused and reported`() async throws {
        let faults = CounterFaults()
        let service = try TestService.withPasskeys { $0.counterFaults = faults }
        var passkey = TestPasskey()
        passkey.authenticator.count = 5
        let ada = try await service.signUp(&passkey)
        passkey.authenticator.count = 7
        #expect(try await service.signIn(&passkey).status == 200)
        for count: UInt32 in [7, 6, 0] {
            passkey.authenticator.count = count
            let members = try passkey.get(await service.beginPasskey("get"))
            #expect(try await service.signInByPasskey(members).summary == Self.refused)
        }
        #expect(faults.all == Array(repeating: "default \(ada.userID)", count: 3))
        passkey.authenticator.count = 8
        #expect(try await service.signIn(&passkey).status == 200)
        // An authenticator that does not count.
        var synchronised = TestPasskey("synchronised")
        synchronised.authenticator.count = 0
        _ = try await service.signUp(&synchronised)
        for _ in 1...2 {
            let members = try synchronised.get(await service.beginPasskey("get"))
            #expect(try await service.signInByPasskey(members).status == 200)
        }
        #expect(faults.all.count == 3)
    }

    @Test func `by the tenant's rule, a counter that goes back is reported alone`() async throws {
        let faults = CounterFaults()
        let service = try TestService.withPasskeys(refusesCounterRollback: false) {
            $0.counterFaults = faults
        }
        var passkey = TestPasskey()
        passkey.authenticator.count = 7
        let ada = try await service.signUp(&passkey)
        for count: UInt32 in [7, 3, 4] {
            passkey.authenticator.count = count
            let members = try passkey.get(await service.beginPasskey("get"))
            let answer = try await service.signInByPasskey(members)
            #expect(try Person(answer).userID == ada.userID)
            // A response still counts once.
            #expect(try await service.signInByPasskey(members).summary == Self.refused)
        }
        // The counter that was set back is the one that is compared: 4 is above 3.
        let reports = faults.all.filter { $0 == "default \(ada.userID) accepted" }
        #expect(reports.count == faults.all.count)
        #expect(reports.count >= 2)
    }

    @Test func `the state of backup is that of the last use`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        // An authenticator that does not count.
        passkey.authenticator.count = 0
        let flags = passkey.authenticator.flags | SoftwareAuthenticator.backupEligible
        passkey.authenticator.flags = flags
        let ada = try await service.signUp(&passkey)
        let account = try #require(AccountID(ada.userID))
        func isBackedUp() async throws -> Bool {
            let stored = try await service.ledger.passkeys(
                of: account, at: provider("passkey"), in: .default)
            #expect(stored.first?.text.contains(#""backup":true"#) == true)
            return stored.first?.text.contains(#""backed_up":true"#) == true
        }
        #expect(try await !isBackedUp())
        for expected in [true, true, false] {
            passkey.authenticator.flags = flags | (expected ? SoftwareAuthenticator.backedUp : 0)
            let members = try passkey.get(await service.beginPasskey("get"))
            #expect(try await service.signInByPasskey(members).status == 200)
            #expect(try await isBackedUp() == expected)
        }
    }

    @Test func `every part of a response is checked`() async throws {
        let service = try TestService.withPasskeys()
        var passkey = TestPasskey()
        _ = try await service.signUp(&passkey)
        passkey.authenticator.count = 9
        let changes: [(inout TestPasskey) -> Void] = [
            { $0.authenticator.origin = "https://example.net" },
            { $0.authenticator.rpID = "example.net" },
            { $0.authenticator.type = "webauthn.create" },
            { $0.authenticator.flags = SoftwareAuthenticator.userVerified },
            { $0.authenticator = TestPasskey("credential").authenticator },
        ]
        for change in changes {
            var other = passkey
            change(&other)
            other.authenticator.count = 9
            let members = try other.get(await service.beginPasskey("get"))
            #expect(try await service.signInByPasskey(members).summary == Self.refused)
        }
        #expect(try await service.signIn(&passkey).status == 200)
        let begun = try await service.beginPasskey("get")
        let challenge = try #require(begun.text("challenge_id"))
        for credential in ["{}", #"{"id":"AA","response":{}}"#, #"{"id":7,"response":[]}"#] {
            let members = "\"challenge_id\":\"\(challenge)\",\"credential\":\(credential)"
            #expect(try await service.signInByPasskey(members).summary == Self.refused)
        }
        for (members, field) in [
            ("\"challenge_id\":\"\(challenge)\"", "credential"),
            ("\"challenge_id\":\"\(challenge)\",\"credential\":\"x\"", "credential"),
            ("\"credential\":{}", "challenge_id"),
        ] {
            let answer = try await service.signInByPasskey(members)
            #expect(answer.summary == "400 INVALID_REQUEST")
            #expect(answer.detail("field")?.string == field)
        }
    }

    @Test func `a service may require that passkeys verify the person`() async throws {
        let service = try TestService.withPasskeys(requiresVerification: true)
        var passkey = TestPasskey()
        let begun = try await service.beginPasskey("create")
        let selection = begun.json["options"]?.members?["authenticatorSelection"]?.members
        #expect(selection?["userVerification"]?.string == "required")
        passkey.authenticator.flags = SoftwareAuthenticator.userPresent
        #expect(
            try await service.signInByPasskey(passkey.create(begun)).summary == Self.refused)
        passkey.authenticator.flags |= SoftwareAuthenticator.userVerified
        _ = try await service.signUp(&passkey)
        #expect(try await service.signIn(&passkey).status == 200)
        passkey.authenticator.flags = SoftwareAuthenticator.userPresent
        #expect(try await service.signIn(&passkey).summary == Self.refused)
    }
}
