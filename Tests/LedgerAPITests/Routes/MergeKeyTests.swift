import Cryptography
import Ledger
import LedgerTestSupport
import Testing

/// Repeated merges, and attempts beyond the budget, over HTTP.
@Suite(.overBothTransports) struct MergeKeyTests {
    @Test func `the same merge under a key has the same answer and no second event`() async throws {
        let story = try await MergeStory()
        let digest = try await story.digest()
        let token = story.token(nonce: digest)
        let first = try await story.merge(digest, token: token, key: "k")
        #expect(first.summary == "200 OK")
        let count = story.service.log().count
        let second = try await story.merge(digest, token: token, key: "k")
        #expect(second.status == 200 && second.body == first.body)
        #expect(story.service.log().count == count)
        let other = try await story.merge(digest, token: story.token(nonce: digest), key: "k")
        #expect(other.summary == "422 IDEMPOTENCY_KEY_REUSED")
        #expect(try await story.merge(digest, token: token).summary == "409 SAME_ACCOUNT")
    }

    @Test func `a merge is answered again when the plan has expired and the session has ended`()
        async throws
    {
        let story = try await MergeStory()
        let digest = try await story.digest()
        let token = story.token(nonce: digest)
        let first = try await story.merge(digest, token: token, key: "k")
        let merge = try #require(first.text("merge"))
        let key = try story.service.audit.key(.support)
        let undone = try await story.post(
            "/v1/merges/\(merge)/undo", ["case": "\"T\""], by: key, headers: MergeStory.reason)
        #expect(undone.summary == "200 OK")
        let out = try await story.service.send(
            "POST", "/v1/auth/sign-out", token: story.ada.accessToken)
        #expect(out.status == 200)
        #expect(
            try await story.service.account(story.ada.accessToken).summary
                == "401 INVALID_ACCESS_TOKEN")
        let again = try await story.merge(digest, token: token, key: "k")
        #expect(again.status == 200 && again.body == first.body)
        #expect(
            try await story.merge(digest, token: token, key: "else").summary
                == "401 INVALID_ACCESS_TOKEN")
    }

    @Test func `support's merges and undone merges are answered again, to the same API key`()
        async throws
    {
        let story = try await MergeStory()
        let keys = [
            try story.service.audit.key(.support), try story.service.audit.key(.admin),
        ]
        let path = "/v1/accounts/\(story.ada.userID)/merge"
        let headers = MergeStory.reason + [(name: "Idempotency-Key", value: "1")]
        let absorb = ["absorb": "\"\(story.other.userID)\""]
        let plan = try await story.post(
            path + "/preview", absorb, by: keys[0], headers: MergeStory.reason)
        let digest = try #require(plan.text("plan_digest"))
        let members = absorb.merging(["plan_digest": "\"\(digest)\"", "case": "\"T-1\""]) {
            _, given in given
        }
        let first = try await story.post(path, members, by: keys[0], headers: headers)
        #expect(first.summary == "200 OK")
        let undo = "/v1/merges/\(try #require(first.text("merge")))/undo"
        let accesses = story.service.audit.access.accesses().count
        let again = try await story.post(path, members, by: keys[0], headers: headers)
        #expect(again.status == 200 && again.body == first.body)
        #expect(
            story.service.audit.access.accesses().count == accesses + 1,
            "a repetition is in the access log, too")
        #expect(
            try await story.post(path, members, by: keys[1], headers: headers).summary
                == "409 ACCOUNT_MERGED", "another principal's key is another key")
        let undone = try await story.post(
            undo, ["case": "\"T-2\""], by: keys[0], headers: headers)
        #expect(undone.summary == "200 OK")
        let count = story.service.log().count
        let repeated = try await story.post(
            undo, ["case": "\"T-2\""], by: keys[0], headers: headers)
        #expect(repeated.status == 200 && repeated.body == undone.body)
        let reused = try await story.post(undo, ["case": "\"T-3\""], by: keys[0], headers: headers)
        #expect(reused.summary == "422 IDEMPOTENCY_KEY_REUSED")
        #expect(story.service.log().count == count)
    }

    @Test func `a preview ignores a key, as it changes nothing`() async throws {
        let story = try await MergeStory()
        let members = ["provider": "\"google\"", "id_token": "\"\(story.token())\""]
        for key in ["k", "é"] {
            let plan = try await story.post(
                "/v1/account/merge/preview", members, headers: [("Idempotency-Key", key)])
            #expect(plan.summary == "200 OK")
        }
    }

    @Test(arguments: ["", "é", String(repeating: "k", count: 256)])
    func `a malformed key is 400`(key: String) async throws {
        let story = try await MergeStory()
        let digest = try await story.digest()
        #expect(try await story.merge(digest, key: key).summary == "400 INVALID_REQUEST")
        let support = try story.service.audit.key(.support)
        let answer = try await story.post(
            "/v1/merges/\(story.ada.userID)/undo", ["case": "\"T\""], by: support,
            headers: MergeStory.reason + [(name: "Idempotency-Key", value: key)])
        #expect(answer.summary == "400 INVALID_REQUEST")
    }

    @Test func `merges and links with invalid tokens share five attempts an hour`()
        async throws
    {
        let story = try await MergeStory()
        for _ in 0..<8 { #expect(try await story.preview().summary == "200 OK") }
        for number in 0..<4 {
            let nobody = story.service.idToken("google", "nobody-\(number)")
            for _ in 0..<2 {
                #expect(
                    try await story.preview(["id_token": "\"\(nobody)\""]).summary
                        == "404 ACCOUNT_NOT_FOUND")
            }
        }
        let stranger = story.service.idToken("google", "stranger")
        let limited = try await story.preview(["id_token": "\"\(stranger)\""])
        #expect(limited.summary == "429 RATE_LIMITED")
        #expect(limited["Retry-After"].flatMap(Int.init) == 3600)
        #expect(
            try await story.service.link("google", stranger, by: story.ada).summary
                == "429 RATE_LIMITED")
        // A merge that was previewed earlier can still be executed.
        #expect(try await story.merge(try await story.digest()).summary == "200 OK")
        #expect(story.service.log().suffix(1) == ["AccountsMerged"])
    }
}
