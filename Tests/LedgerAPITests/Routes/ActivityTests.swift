import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// The recent activity of an account, as its holder requests it.
@Suite(.overBothTransports) struct ActivityTests {
    private func activity(
        _ service: TestService, _ person: Person, _ query: String = ""
    ) async throws -> Answer {
        try await service.send(
            "GET", "/v1/account/activity\(query)", token: person.accessToken)
    }

    /// `kind by provider`.
    private func rows(_ answer: Answer) -> [String] {
        (answer.json["activity"]?.array ?? []).compactMap(\.members).map { row in
            ["kind", "by", "provider"].compactMap { row[$0]?.string }.joined(separator: " ")
        }
    }

    private func support(
        _ service: TestService, _ method: String, _ path: String, _ body: String? = nil
    ) async throws -> Answer {
        let answer = try await service.send(
            method, path, body, token: try service.audit.key(.admin),
            headers: [("Ledger-Reason", "reason of support")])
        #expect(answer.status == 200, "\(answer.body)")
        return answer
    }

    @Test func `the holder sees their own actions and those of support, newest first`()
        async throws
    {
        let service = try TestService()
        let bob = try await service.signIn("google", "bob")
        let ada = try await service.signIn("apple", "ada")
        _ = try await service.link("google", subject: "ada-g", by: ada)
        _ = try await service.unlink("google", by: ada)
        _ = try await service.link("google", subject: "bob", by: ada)
        _ = try await service.unlink("apple", by: ada)
        _ = try await support(service, "POST", "/v1/accounts/\(ada.userID)/holds")
        _ = try await support(
            service, "POST", "/v1/accounts/\(ada.userID)/end-sessions", #"{"case":"T-100"}"#)
        #expect(try await activity(service, ada).summary == "401 INVALID_ACCESS_TOKEN")
        let again = try await service.signIn("apple", "ada")
        let answer = try await activity(service, again)
        #expect(answer.summary == "200 OK", "\(answer.body)")
        #expect(
            rows(answer) == [
                "signed_in holder apple", "sessions_ended support",
                "unlink_refused holder apple", "link_refused holder google",
                "unlinked holder google", "linked holder google", "signed_in holder apple",
                "linked holder apple", "opened holder",
            ])
        #expect(answer.json["more"] == .bool(false) && answer.json["next"] == nil)
        for hidden in [bob.userID, "reason of support", "T-100", "held_by_other", "position"] {
            #expect(!answer.body.contains(hidden), "\(hidden)")
        }
        let members = answer.json["activity"]?.array?.compactMap(\.members) ?? []
        #expect(members[0]["current_session"] == .bool(true))
        #expect(members[6]["current_session"] == .bool(false))
        #expect(members[0]["new_device"] == .bool(false))
        #expect(members[2]["reason"]?.string == "only_provider", "\(answer.body)")
        #expect(members[0]["client_ip"] != nil && members[1]["client_ip"] == nil)
        let events = service.ledger.recordings().map(\.recorded)
        #expect(members[0]["event_id"]?.string == events.last?.id.description)
        #expect(members[0]["at"]?.string == events.last?.recordedAt.description)
        // The holder of the identity does not see who asked for it.
        let his = try await activity(service, bob)
        #expect(
            rows(his) == ["signed_in holder google", "linked holder google", "opened holder"])
        #expect(service.audit.access.accesses().count == 2)
    }

    @Test func `pages go back, and new activity changes none`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        for _ in 0..<3 { _ = try await service.signIn("apple", "ada") }
        let all = try await activity(service, ada)
        let events = (all.json["activity"]?.array ?? []).compactMap {
            $0.members?["event_id"]?.string
        }
        #expect(events.count == 6)
        var seen: [String] = []
        var query = "?limit=4"
        while true {
            let page = try await activity(service, ada, query)
            seen += (page.json["activity"]?.array ?? []).compactMap {
                $0.members?["event_id"]?.string
            }
            guard page.json["more"] == .bool(true) else { break }
            query = "?limit=4&before=\(try #require(page.text("next")))"
            _ = try await service.signIn("apple", "ada")
        }
        #expect(seen == events)
        let foreign = try await service.signIn("google", "bob")
        let his = try await activity(service, foreign, "?limit=1")
        let event = try #require(his.text("next"))
        for query in [
            "?before=\(event)", "?before=x", "?limit=0", "?limit=101", "?after=1", "?before=",
            "?order=newest",
        ] {
            let refused = try await activity(service, ada, query)
            #expect(refused.summary == "400 INVALID_REQUEST", "\(query)")
        }
        let unauthenticated = try await service.send("GET", "/v1/account/activity")
        #expect(unauthenticated.summary == "401 INVALID_ACCESS_TOKEN")
        let key = try await service.send(
            "GET", "/v1/account/activity", token: try service.audit.key(.admin))
        #expect(key.summary == "401 INVALID_ACCESS_TOKEN")
    }

    @Test func `after a merge the activity of the absorbed account belongs to it`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("apple", "ada")
        let bob = try await service.signIn("google", "bob")
        let path = "/v1/accounts/\(ada.userID)/merge"
        let plan = try await support(
            service, "POST", path + "/preview", #"{"absorb":"\#(bob.userID)"}"#)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await support(
            service, "POST", path,
            #"{"absorb":"\#(bob.userID)","plan_digest":"\#(digest)","case":"T-100"}"#)
        let first = try await activity(service, ada)
        #expect(
            rows(first) == [
                "merged support", "signed_in holder google", "linked holder google",
                "opened holder", "signed_in holder apple", "linked holder apple", "opened holder",
            ], "\(first.body)")
        let merge = try #require(merged.text("merge"))
        _ = try await support(service, "POST", "/v1/merges/\(merge)/undo", #"{"case":"T-101"}"#)
        let apart = try await activity(service, ada)
        #expect(
            rows(apart) == [
                "merge_undone support", "merged support", "signed_in holder apple",
                "linked holder apple", "opened holder",
            ])
    }
}
