import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import OpenID
import Testing

/// Merges over HTTP: by the account holder, by support, and undone.
@Suite(.overBothTransports) struct MergeTests {
    @Test func `after a conflict the person previews, proves and merges`() async throws {
        let story = try await MergeStory()
        let conflict = try await story.service.link("google", subject: "other", by: story.ada)
        #expect(conflict.summary == "409 PROVIDER_CONFLICT")
        let plan = try await story.preview()
        #expect(plan.summary == "200 OK")
        #expect(plan.text("user_id") == story.ada.userID)
        #expect(plan.text("absorbed_user_id") == story.other.userID)
        #expect(plan.providers == ["apple", "google"])
        for name in ["kept", "moved"] {
            let identities = (plan.json[name]?.array ?? []).compactMap(\.members)
            #expect(identities.map { $0["email_verified"] } == [.bool(true)], "\(name)")
        }
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await story.merge(digest)
        #expect(merged.summary == "200 OK")
        #expect(merged.text("merge") != nil)
        #expect(!merged.body.contains("email_verified"))
        #expect(story.service.log().suffix(1) == ["AccountsMerged"])
        // Either identity signs in to the survivor, and the other account's tokens are revoked.
        let again = try await story.service.signIn("google", "other")
        #expect(again.userID == story.ada.userID && !again.isNew)
        #expect(
            try await story.service.account(story.other.accessToken).summary
                == "401 INVALID_ACCESS_TOKEN")
        #expect(
            try await story.service.refresh(story.other.refreshToken).summary
                == "401 INVALID_REFRESH_TOKEN")
        #expect(try await story.service.account(story.ada.accessToken).summary == "200 OK")
        #expect(try await story.merge(digest).summary == "409 SAME_ACCOUNT")
    }

    @Test func `an ID token without the plan's nonce is refused`() async throws {
        let story = try await MergeStory()
        let early = story.token()
        let digest = try await story.digest()
        let other = try await story.digest()
        for token in [
            early, story.token(), story.token(nonce: "else"), story.token(nonce: digest + "x"),
        ] {
            #expect(
                try await story.merge(digest, token: token).summary == "401 INVALID_PROVIDER_TOKEN")
        }
        #expect(story.service.log().last != "AccountsMerged")
        #expect(digest == other, "one moment and one plan have one digest")
        #expect(try await story.merge(other).summary == "200 OK")
    }

    @Test func `for a provider without nonces, the ID token must be newer than the plan`()
        async throws
    {
        let story = try await MergeStory(nonce: .none)
        let digest = try await story.digest()
        let now = story.service.clock.now.seconds
        #expect(
            try await story.merge(digest, token: story.token(issued: now)).summary
                == "401 INVALID_PROVIDER_TOKEN")
        story.service.clock.advance(seconds: 1)
        #expect(
            try await story.merge(digest, token: story.token(issued: now + 1)).summary == "200 OK")
    }

    @Test func `a digest that is forged, expired or of another account confirms nothing`()
        async throws
    {
        let story = try await MergeStory()
        let digest = try await story.digest()
        let third = try await story.service.signIn("google", "third")
        let foreign = try await story.post(
            "/v1/account/merge",
            [
                "provider": "\"google\"", "plan_digest": "\"\(digest)\"",
                "id_token": "\"\(story.token(nonce: digest))\"",
            ], by: third.accessToken)
        #expect(foreign.summary == "409 MERGE_PLAN_CHANGED")
        for made in ["AAAA", String(digest.reversed()), digest + "AA"] {
            #expect(try await story.merge(made).summary == "409 MERGE_PLAN_CHANGED")
        }
        story.service.clock.advance(seconds: MergePlanDigests.lifetimeSeconds)
        let later = try await story.service.signIn("apple", "ada")
        let late = try await story.post(
            "/v1/account/merge",
            [
                "provider": "\"google\"", "plan_digest": "\"\(digest)\"",
                "id_token": "\"\(story.token(nonce: digest))\"",
            ], by: later.accessToken)
        #expect(late.summary == "409 MERGE_PLAN_CHANGED")
    }

    @Test func `an outdated plan is refused, and a new preview works`() async throws {
        let story = try await MergeStory()
        let digest = try await story.digest()
        let linked = try await story.service.link("apple", subject: "more", by: story.other)
        #expect(linked.summary == "200 OK")
        #expect(try await story.merge(digest).summary == "409 MERGE_PLAN_CHANGED")
        let plan = try await story.preview(["keep": #"{"apple":"absorbed"}"#])
        #expect(plan.providers == ["google", "apple"])
        let other = try #require(plan.text("plan_digest"))
        #expect(
            try await story.merge(other).summary == "409 MERGE_PLAN_CHANGED",
            "another choice is another plan")
        #expect(
            try await story.merge(other, ["keep": #"{"apple":"absorbed"}"#]).summary == "200 OK")
    }

    @Test(arguments: [
        #"{"apple":"both"}"#, #"{"apple":1}"#, #"["apple"]"#, #"{"no name":"survivor"}"#,
        #"{"facebook":"absorbed"}"#,
    ])
    func `an invalid choice is 400`(keep: String) async throws {
        let story = try await MergeStory()
        #expect(try await story.preview(["keep": keep]).summary == "400 INVALID_REQUEST")
    }

    @Test func `a merge requires a session and a recent sign-in`() async throws {
        let story = try await MergeStory()
        let digest = try await story.digest()
        let none = try await story.service.send(
            "POST", "/v1/account/merge", "{\"plan_digest\":\"\(digest)\"}")
        #expect(none.summary == "401 INVALID_ACCESS_TOKEN")
        story.service.clock.advance(seconds: 590)
        let late = try await story.digest()
        story.service.clock.advance(seconds: 20)
        let refreshed = try Person(try await story.service.refresh(story.ada.refreshToken))
        let refused = try await story.post(
            "/v1/account/merge",
            [
                "provider": "\"google\"", "plan_digest": "\"\(late)\"",
                "id_token": "\"\(story.token(nonce: late))\"",
            ], by: refreshed.accessToken)
        #expect(refused.summary == "403 REAUTHENTICATION_REQUIRED")
    }

    @Test func `support merges for a case and undoes it`() async throws {
        let story = try await MergeStory()
        let key = try story.service.audit.key(.support)
        let path = "/v1/accounts/\(story.ada.userID)/merge"
        let absorb = ["absorb": "\"\(story.other.userID)\""]
        let plan = try await story.post(
            path + "/preview", absorb, by: key, headers: MergeStory.reason)
        #expect(plan.summary == "200 OK")
        let digest = try #require(plan.text("plan_digest"))
        var members = absorb.merging(["plan_digest": "\"\(digest)\""]) { _, given in given }
        #expect(
            try await story.post(path, members, by: key, headers: MergeStory.reason).summary
                == "400 INVALID_REQUEST", "a case is required")
        members["case"] = "\"T-100\""
        #expect(
            try await story.post(path, members, by: key).summary == "400 INVALID_REQUEST",
            "a reason is required")
        let merged = try await story.post(path, members, by: key, headers: MergeStory.reason)
        #expect(merged.summary == "200 OK")
        let recording = try #require(story.service.ledger.recordings().last)
        #expect(
            Set(recording.disclosed.map { "\($0.name.rawValue)=\($0.value)" })
                == ["case_reference=T-100", "reason=one person"])
        #expect(!String(decoding: recording.entry, as: UTF8.self).contains("T-100"))
        let line = try #require(story.service.audit.access.accesses().last)
        #expect(line.action == "account.merge" && line.reason == "one person")

        let event = try #require(merged.text("merge"))
        let undo = "/v1/merges/\(event)/undo"
        let preview = try await story.post(
            undo + "/preview", [:], by: key, headers: MergeStory.reason)
        #expect(preview.summary == "200 OK")
        #expect(story.service.log().last == "AccountsMerged")
        let undone = try await story.post(
            undo, ["case": "\"T-101\""], by: key, headers: MergeStory.reason)
        #expect(undone.summary == "200 OK")
        let access = try #require(story.service.audit.access.accesses().last)
        #expect(access.action == "merge.undo" && access.outcome == "allowed")
        #expect(access.event == EventID(event) && access.reason == "one person")
        let accounts = #""survivor":"\#(story.ada.userID)"}"#
        #expect(
            access.details == #"{"absorbed":"\#(story.other.userID)","case":"T-101","# + accounts)
        let back = try await story.service.signIn("google", "other")
        #expect(back.userID == story.other.userID && !back.isNew)
        let again = try await story.post(
            undo, ["case": "\"T-101\""], by: key, headers: MergeStory.reason)
        #expect(again.summary == "409 MERGE_SUPERSEDED")
        let refused = try #require(story.service.audit.access.accesses().last)
        #expect(refused.action == "merge.undo" && refused.outcome == "refused")
        #expect(refused.details.contains(#""refusal":"MERGE_SUPERSEDED""#))
    }

    @Test func `auditors cannot merge, and only a merge can be undone`() async throws {
        let story = try await MergeStory()
        let auditor = try story.service.audit.key(.auditor)
        let path = "/v1/accounts/\(story.ada.userID)/merge"
        for location in [path, path + "/preview"] {
            #expect(try await story.post(location, [:], by: auditor).summary == "403 FORBIDDEN")
        }
        let key = try story.service.audit.key(.support)
        let first = try #require(story.service.ledger.recordings().first?.recorded.id)
        for event in ["\(first)", story.ada.userID, "nothing"] {
            let answer = try await story.post(
                "/v1/merges/\(event)/undo", ["case": "\"T\""], by: key, headers: MergeStory.reason)
            #expect(answer.summary == "404 MERGE_NOT_FOUND")
        }
        let unknown = try await story.post(
            path + "/preview", ["absorb": "\"\(EventID(bits: 5))\""], by: key,
            headers: MergeStory.reason)
        #expect(unknown.summary == "404 ACCOUNT_NOT_FOUND")
    }

    @Test func `an absorbed account's id resolves to the survivor, and the answer says so`()
        async throws
    {
        let story = try await MergeStory()
        let third = try await story.service.signIn("google", "third")
        #expect(try await story.merge(try await story.digest()).summary == "200 OK")
        let key = try story.service.audit.key(.support)
        func account(_ id: String, _ query: String = "") async throws -> Answer {
            try await story.service.send("GET", "/v1/accounts/\(id)\(query)", token: key)
        }
        // The survivor is merged into a third account.
        let path = "/v1/accounts/\(third.userID)/merge"
        let absorb = [
            "absorb": "\"\(story.ada.userID)\"", "keep": #"{"google":"absorbed"}"#, "case": #""T""#,
        ]
        let plan = try await story.post(
            path + "/preview", absorb, by: key, headers: MergeStory.reason)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await story.post(
            path, absorb.merging(["plan_digest": "\"\(digest)\""]) { _, given in given }, by: key,
            headers: MergeStory.reason)
        #expect(merged.summary == "200 OK")
        for id in [story.other.userID, story.ada.userID] {
            let answer = try await account(id)
            #expect(answer.text("account") == third.userID)
            #expect(answer.text("merged_into") == third.userID)
            #expect(answer.text("requested") == id)
            #expect(answer.providers == ["apple", "google"])
        }
        let own = try await account(third.userID)
        #expect(own.text("merged_into") == nil)
        let before = try await account(story.other.userID, "?as_of=5")
        #expect(before.text("account") == story.other.userID)
    }
}
