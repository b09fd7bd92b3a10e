import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Merges of accounts with second factors over HTTP: afterwards every sign-in needs one of either account's.
@Suite(.overBothTransports) struct MergeFactorTests {
    @Test func `the first factor of the survivor ends its sessions, and its sign-ins need it`()
        async throws
    {
        let scene = try await FactorMerge()
        let service = scene.service
        let plan = try await scene.preview()
        #expect(plan.summary == "200 OK", "\(plan.body)")
        #expect(plan.text("absorbed_user_id") == scene.ada.person.userID)
        #expect(plan.mergedFactors == ["\(scene.ada.factor) of absorbed"])
        let own = try await service.account(scene.bob.accessToken).json["identities"]?.array
        let ended = plan.json["sessions_end"]?.members?["opened_by"]?.array
        #expect(ended == own?.compactMap { $0.members?["identity_id"] } && ended?.count == 1)
        #expect(!scene.isMerged)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await scene.merge(digest, key: "k")
        #expect(merged.summary == "200 OK" && merged.text("merge") != nil, "\(merged.body)")
        #expect(merged.mergedFactors == ["\(scene.ada.factor) of absorbed"])
        for person in [scene.bob, scene.ada.person] {
            #expect(
                try await service.account(person.accessToken).summary
                    == "401 INVALID_ACCESS_TOKEN")
            #expect(
                try await service.refresh(person.refreshToken).summary
                    == "401 INVALID_REFRESH_TOKEN")
        }
        // A client whose answer was lost gets it, though its session is over.
        let again = try await scene.merge(digest, key: "k")
        #expect(again.summary == "200 OK" && again.body == merged.body, "\(again.body)")
        for (provider, subject) in [("apple", "bob"), ("google", "ada")] {
            let person = try Person(
                await scene.signIn(
                    provider, subject, with: scene.ada.factor, scene.code(scene.ada)))
            #expect(person.userID == scene.bob.userID)
            service.clock.advance(seconds: 30)
        }
    }

    @Test func `a renewed access token repeats a merge, the token of another account does not`()
        async throws
    {
        let scene = try await FactorMerge()
        let service = scene.service
        let other = try await service.signIn("google", "carol")
        service.clock.advance(seconds: 1)
        let renewed = try Person(await service.refresh(scene.ada.person.refreshToken))
        #expect(renewed.accessToken != scene.ada.person.accessToken)
        let digest = try #require(try await scene.preview().text("plan_digest"))
        let merged = try await scene.merge(digest, key: "k")
        #expect(merged.summary == "200 OK", "\(merged.body)")
        let again = try await scene.merge(digest, renewed.accessToken, key: "k")
        #expect(again.summary == "200 OK" && again.body == merged.body, "\(again.body)")
        for (plan, token) in [(digest, other.accessToken), ("x", renewed.accessToken)] {
            #expect(
                try await scene.merge(plan, token, key: "k").summary
                    == "422 IDEMPOTENCY_KEY_REUSED")
        }
    }

    @Test func `where both have factors, those of either and codes of either set are accepted`()
        async throws
    {
        let scene = try await FactorMerge()
        let service = scene.service
        let bob = try await service.enrol(scene.bob)
        let plan = try await scene.preview(by: bob.person)
        #expect(
            plan.mergedFactors == [
                "\(bob.factor) of survivor", "\(scene.ada.factor) of absorbed",
            ], "\(plan.body)")
        #expect(plan.json["sessions_end"]?.members?["opened_by"]?.array?.isEmpty == true)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await scene.merge(digest, by: bob.person)
        #expect(merged.summary == "200 OK", "\(merged.body)")
        // Its session began with a second factor, and stays.
        #expect(try await service.account(bob.person.accessToken).status == 200)
        #expect(try await scene.merge(digest, by: bob.person).summary == "409 SAME_ACCOUNT")
        let crossed = try await scene.signIn(
            "apple", "bob", with: scene.ada.factor, scene.code(scene.ada))
        #expect(try Person(crossed).userID == scene.bob.userID)
        let other = try Person(
            await scene.signIn("google", "ada", with: bob.factor, scene.code(bob)))
        #expect(other.userID == scene.bob.userID)

        // The person can't tell whose set a code is of.
        let refused = try await scene.refused("apple", "bob")
        let set = try #require(refused.recoveryCodeSets.first)
        for code in [bob.codes[0], scene.ada.codes[0]] {
            let person = try Person(await scene.signIn("apple", "bob", with: set, code))
            #expect(person.userID == scene.bob.userID)
            #expect(
                try await scene.signIn("apple", "bob", with: set, code).summary
                    == "401 INVALID_CODE")
        }
        let renewed = try await service.send(
            "POST", "/v1/account/recovery-codes", token: other.accessToken)
        let codes = renewed.json["recovery_codes"]?.array?.compactMap(\.string) ?? []
        #expect(codes.count == 10, "\(renewed.body)")
        let sets = try await scene.refused("apple", "bob").recoveryCodeSets
        #expect(sets.count == 1)
        let only = try #require(sets.first)
        for code in [bob.codes[1], scene.ada.codes[1]] {
            #expect(
                try await scene.signIn("google", "ada", with: only, code).summary
                    == "401 INVALID_CODE")
        }
        #expect(try await scene.signIn("google", "ada", with: only, codes[0]).status == 200)
    }

    @Test func `a device that gave an absorbed account's factor is not locked out by strangers`()
        async throws
    {
        let scene = try await FactorMerge { $0.proxies = "127.0.0.1" }
        let service = scene.service
        let digest = try #require(try await scene.preview().text("plan_digest"))
        #expect(try await scene.merge(digest).summary == "200 OK")
        func attempt(
            _ code: String, from client: String, _ rest: String = ""
        ) async throws -> Answer {
            try await service.finish(
                try await scene.refused("apple", "bob"), scene.ada.factor, code, rest,
                headers: [("X-Forwarded-For", client)])
        }
        let known = try #require(
            try await attempt(scene.code(scene.ada), from: "192.0.2.9").text("device_token"))
        service.clock.advance(seconds: 30)
        let wrong = scene.ada.app.wrongCode(at: service.clock.now.seconds)
        for number in 1...2 {
            for _ in 0..<AddressCodes.triesPerNetwork {
                let answer = try await attempt(wrong, from: "192.0.2.\(number)")
                #expect(answer.summary == "401 INVALID_CODE")
            }
        }
        let code = scene.code(scene.ada)
        #expect(try await attempt(code, from: "192.0.2.3").status == 429)
        let answer = try await attempt(code, from: "192.0.2.3", ",\"device_token\":\"\(known)\"")
        #expect(answer.text("device_token") == known, "\(answer.body)")
    }

    @Test func `the other access token must be valid, of the tenant and of a live session`()
        async throws
    {
        let other = try #require(TenantID("other"))
        let scene = try await FactorMerge { $0.tenants = [.default, other] }
        let service = scene.service
        let foreign = try await service.signIn("google", "ada", tenant: "/t/other")
        let past = try await service.signIn("google", "past")
        let signedOut = try await service.send(
            "POST", "/v1/auth/sign-out", "{}", token: past.accessToken)
        #expect(signedOut.status == 200)
        let digest = try #require(try await scene.preview().text("plan_digest"))
        for token in ["x", scene.bob.refreshToken, foreign.accessToken, past.accessToken] {
            for answer in [
                try await scene.preview(token), try await scene.merge(digest, token),
            ] {
                #expect(answer.summary == "401 INVALID_PROVIDER_TOKEN", "\(answer.body)")
            }
        }
        #expect(try await scene.preview(scene.bob.accessToken).summary == "409 SAME_ACCOUNT")
        let none = try await scene.post(
            "/v1/account/merge/preview", [:], by: scene.bob.accessToken)
        #expect(none.summary == "400 INVALID_REQUEST")
        #expect(none.detail("field")?.string == "provider")
        let both = try await scene.post(
            "/v1/account/merge/preview",
            ["provider": "google", "other_access_token": scene.ada.person.accessToken],
            by: scene.bob.accessToken)
        #expect(both.detail("field")?.string == "other_access_token", "\(both.body)")
        service.clock.advance(seconds: AccessTokens.lifetimeSecondsDefault)
        let bob = try await service.signIn("apple", "bob")
        #expect(try await scene.preview(by: bob).summary == "401 INVALID_PROVIDER_TOKEN")
        #expect(!scene.isMerged)
    }

    @Test func `either session must have begun a short time ago, with the factor of its account`()
        async throws
    {
        let scene = try await FactorMerge()
        let service = scene.service
        service.clock.advance(seconds: 601)
        let late = "403 REAUTHENTICATION_REQUIRED"
        let old = try Person(await service.refresh(scene.ada.person.refreshToken))
        let bob = try await service.signIn("apple", "bob")
        #expect(try await scene.preview(old.accessToken, by: bob).summary == late)
        let ada = try Person(
            await scene.signIn(
                "google", "ada", with: scene.ada.factor, scene.code(scene.ada)))
        let oldBob = try Person(await service.refresh(scene.bob.refreshToken))
        #expect(try await scene.preview(ada.accessToken, by: oldBob).summary == late)
        let plan = try await scene.preview(ada.accessToken, by: bob)
        let digest = try #require(plan.text("plan_digest"), "\(plan.body)")
        #expect(try await scene.merge(digest, old.accessToken, by: bob).summary == late)
        #expect(try await scene.merge(digest, ada.accessToken, by: oldBob).summary == late)
        #expect(try await scene.merge(digest, ada.accessToken, by: bob).summary == "200 OK")
    }

    @Test func `another factor is another plan`() async throws {
        let scene = try await FactorMerge()
        let digest = try #require(try await scene.preview().text("plan_digest"))
        #expect(try await scene.merge("x").summary == "409 MERGE_PLAN_CHANGED")
        _ = try await scene.service.enrol(scene.ada.person)
        #expect(try await scene.merge(digest).summary == "409 MERGE_PLAN_CHANGED")
        let plan = try await scene.preview()
        #expect(plan.mergedFactors.count == 2)
        let next = try #require(plan.text("plan_digest"))
        #expect(try await scene.merge(next).summary == "200 OK")
    }

    @Test func `an undoing gives each account its own factors back`() async throws {
        let scene = try await FactorMerge()
        let service = scene.service
        let bob = try await service.enrol(scene.bob)
        let plan = try await scene.preview(by: bob.person)
        let merged = try await scene.merge(
            try #require(plan.text("plan_digest")), by: bob.person)
        let merge = try #require(merged.text("merge"), "\(merged.body)")
        let (sam, kim) = (try service.audit.key(.support), try service.audit.key(.support))
        let path = "/v1/merges/\(merge)/undo"
        let shown = try await scene.post(
            path + "/preview", [:], by: sam, headers: MergeStory.reason)
        let asked = try await scene.post(
            path, ["case": "T-9"], by: sam, headers: MergeStory.reason)
        let request = try #require(asked.text("undo_request"), "\(asked.body)")
        let undone = try await scene.post(
            path, ["case": "T-9", "undo_request": request], by: kim, headers: MergeStory.reason)
        #expect(undone.summary == "200 OK", "\(undone.body)")
        for answer in [shown, undone] {
            let sides = (answer.json["accounts"]?.array ?? []).map {
                ($0.members?["factors"]?.array ?? []).compactMap(\.string)
            }
            #expect(sides == [[], [scene.ada.factor]], "\(answer.body)")
        }
        for (provider, subject, holder, other) in [
            ("apple", "bob", bob, scene.ada), ("google", "ada", scene.ada, bob),
        ] {
            let refused = try await scene.refused(provider, subject)
            #expect(
                try await service.finish(refused, other.factor, scene.code(other)).summary
                    == "401 INVALID_CODE")
            let person = try Person(
                await service.finish(refused, holder.factor, scene.code(holder)))
            #expect(person.userID == holder.person.userID)
            let set = try #require(refused.recoveryCodeSets.first)
            #expect(
                try await scene.signIn(provider, subject, with: set, other.codes[0]).summary
                    == "401 INVALID_CODE")
            #expect(
                try await scene.signIn(provider, subject, with: set, holder.codes[0]).status
                    == 200)
            service.clock.advance(seconds: 30)
        }
    }

    @Test func `a merge is not undone once a factor that it moved was removed`() async throws {
        let scene = try await FactorMerge()
        let service = scene.service
        let digest = try #require(try await scene.preview().text("plan_digest"))
        let merge = try #require(try await scene.merge(digest).text("merge"))
        let person = try Person(
            await scene.signIn("apple", "bob", with: scene.ada.factor, scene.code(scene.ada)))
        let removed = try await service.send(
            "DELETE", "/v1/account/factors/\(scene.ada.factor)", token: person.accessToken)
        #expect(removed.json["factors"]?.array?.isEmpty == true, "\(removed.body)")
        let refused = try await scene.post(
            "/v1/merges/\(merge)/undo/preview", [:], by: try service.audit.key(.support),
            headers: MergeStory.reason)
        #expect(refused.summary == "409 MERGE_SUPERSEDED")
        #expect(refused.detail("reason")?.string == "identity_changed")
    }
}
