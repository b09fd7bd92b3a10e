import JSON
import Ledger
import LedgerTestSupport
import Testing

/// A merge of accounts with second factors by two persons of support, over HTTP.
@Suite(.overBothTransports) struct MergeByTwoTests {
    @Test func `one person of support asks for the merge, and another one merges`() async throws {
        let scene = try await FactorMerge()
        let service = scene.service
        let (sam, kim) = (try service.audit.key(.support), try service.audit.key(.support))
        let plan = try await scene.support("/preview", by: sam)
        #expect(plan.json["needs_two"] == .bool(true) && plan.json["asked_by"] == nil)
        #expect(plan.mergedFactors == ["\(scene.ada.factor) of absorbed"])
        let asked = try await scene.merge(as: sam)
        #expect(asked.status == 202 && asked.json["expires_in"] == .number(3600))
        let request = try #require(asked.text("merge_request"), "\(asked.body)")
        #expect(!scene.isMerged)
        for answer in [
            try await scene.support("/preview", ["merge_request": request], by: sam),
            try await scene.merge(request, as: sam),
        ] {
            #expect(answer.summary == "403 SECOND_PERSON_REQUIRED")
        }
        let lines = service.audit.access.accesses()
        let asking = try #require(lines.first { $0.action == "account.merge_request" })
        #expect(asking.reason == "one person" && asking.details.contains("T-9"))
        let shown = try await scene.support("/preview", ["merge_request": request], by: kim)
        #expect(shown.text("asked_by") == asking.principal, "\(shown.body)")
        #expect(!scene.isMerged)
        let merged = try await scene.merge(request, as: kim)
        #expect(merged.summary == "200 OK" && merged.text("merge") != nil, "\(merged.body)")

        let recorded = try #require(service.ledger.recordings().last).recorded
        guard case .accountsMerged(let fact) = recorded.event else {
            Issue.record("\(recorded.event)")
            return
        }
        #expect(fact.asker?.description == asking.principal)
        #expect(fact.factors.required.map(\.description) == [scene.ada.factor])
        let confirming = try #require(service.audit.access.accesses().last)
        #expect(confirming.action == "account.merge" && confirming.outcome == "allowed")
        #expect(confirming.principal == recorded.actor.columnText)
        #expect(confirming.details.contains(#""asked_by":"\#(asking.principal)""#))
        #expect(
            try await service.account(scene.bob.accessToken).summary
                == "401 INVALID_ACCESS_TOKEN")
        #expect(
            try await scene.support("/preview", by: kim).summary == "409 ACCOUNT_MERGED")
    }

    @Test func `a request to merge is of one plan, and valid for an hour`() async throws {
        let scene = try await FactorMerge()
        let service = scene.service
        let (sam, kim) = (try service.audit.key(.support), try service.audit.key(.support))
        let changed = "409 MERGE_PLAN_CHANGED"
        let request = try await scene.ask(as: sam)
        let digest = try #require(request.split(separator: ".").last)
        for forged in ["x", ".", String(digest), "operator.\(digest)", request + "x"] {
            #expect(try await scene.merge(forged, as: kim).summary == changed, "\(forged)")
        }
        // Ada's account does not absorb Bob's with it.
        let turned = try await scene.post(
            "/v1/accounts/\(scene.ada.person.userID)/merge/preview",
            ["absorb": scene.bob.userID, "merge_request": request], by: kim,
            headers: MergeStory.reason)
        #expect(turned.summary == changed)
        #expect(
            try await service.link("google", subject: "more", by: scene.bob).status == 200)
        #expect(try await scene.merge(request, as: kim).summary == changed)
        let next = try await scene.ask(as: sam)
        service.clock.advance(seconds: TwoPersonStep.requestLifetimeSeconds)
        #expect(
            try await scene.support("/preview", ["merge_request": next], by: kim).summary
                == changed)
        #expect(try await scene.merge(next, as: kim).summary == changed)
        #expect(!scene.isMerged)
        let again = try await scene.ask(as: sam)
        #expect(try await scene.merge(again, as: kim).summary == "200 OK")
    }

    @Test func `without a second factor one person of support merges`() async throws {
        let story = try await MergeStory()
        let key = try story.service.audit.key(.support)
        let path = "/v1/accounts/\(story.ada.userID)/merge"
        let absorb = ["absorb": "\"\(story.other.userID)\"", "case": "\"T-9\""]
        let plan = try await story.post(
            path + "/preview", absorb, by: key, headers: MergeStory.reason)
        #expect(plan.json["needs_two"] == nil && plan.mergedFactors.isEmpty)
        #expect(plan.json["factors"]?.array?.isEmpty == true)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await story.post(
            path, absorb.merging(["plan_digest": "\"\(digest)\""]) { _, given in given }, by: key,
            headers: MergeStory.reason)
        #expect(merged.summary == "200 OK", "\(merged.body)")
        let lines = story.service.audit.access.accesses()
        #expect(!lines.contains { $0.action == "account.merge_request" })
    }
}
