import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// The undoing of a merge into an account with a second factor, over HTTP.
@Suite(.overBothTransports) struct UnmergeByTwoTests {
    /// A merge, after which a factor was enrolled.
    private struct Scene {
        let story: MergeStory
        let merge: String
        let sam: String
        let kim: String

        init() async throws {
            story = try await MergeStory()
            let merged = try await story.merge(try await story.digest())
            merge = try #require(merged.text("merge"), "\(merged.body)")
            _ = try await story.service.enrol(story.ada)
            sam = try story.service.audit.key(.support)
            kim = try story.service.audit.key(.support)
        }

        func undo(_ request: String? = nil, by key: String) async throws -> Answer {
            var members = ["case": "\"T-8\""]
            members["undo_request"] = request.map { "\"\($0)\"" }
            return try await story.post(
                "/v1/merges/\(merge)/undo", members, by: key, headers: MergeStory.reason)
        }

        func preview(_ request: String? = nil, by key: String) async throws -> Answer {
            var members: [String: String] = [:]
            members["undo_request"] = request.map { "\"\($0)\"" }
            return try await story.post(
                "/v1/merges/\(merge)/undo/preview", members, by: key, headers: MergeStory.reason)
        }

        func ask(by key: String) async throws -> String {
            let asked = try await undo(by: key)
            #expect(asked.status == 202, "\(asked.body)")
            return try #require(asked.text("undo_request"))
        }

        var isUndone: Bool { story.service.log().last == "AccountsUnmerged" }
    }

    @Test func `the first call asks, the same key cannot confirm, and another one undoes`()
        async throws
    {
        let scene = try await Scene()
        let planned = try await scene.preview(by: scene.sam)
        #expect(planned.json["needs_two"] == .bool(true) && planned.json["asked_by"] == nil)
        let asked = try await scene.undo(by: scene.sam)
        #expect(asked.status == 202 && asked.json["expires_in"] == .number(3600))
        let request = try #require(asked.text("undo_request"), "\(asked.body)")
        #expect(!scene.isUndone)
        for answer in [
            try await scene.preview(request, by: scene.sam),
            try await scene.undo(request, by: scene.sam),
        ] {
            #expect(answer.summary == "403 SECOND_PERSON_REQUIRED")
        }
        let lines = scene.story.service.audit.access.accesses()
        let asking = try #require(lines.first { $0.action == "merge.undo_request" })
        #expect(asking.reason == "one person" && asking.event == EventID(scene.merge))
        let shown = try await scene.preview(request, by: scene.kim)
        #expect(shown.text("asked_by") == asking.principal, "\(shown.body)")
        #expect(!scene.isUndone)
        let undone = try await scene.undo(request, by: scene.kim)
        #expect(undone.summary == "200 OK" && undone.text("unmerge") != nil)

        let recorded = try #require(scene.story.service.ledger.recordings().last).recorded
        guard case .accountsUnmerged(let fact) = recorded.event else {
            Issue.record("\(recorded.event)")
            return
        }
        #expect(fact.asker?.description == asking.principal)
        let confirming = try #require(scene.story.service.audit.access.accesses().last)
        #expect(confirming.action == "merge.undo" && confirming.outcome == "allowed")
        #expect(confirming.principal == recorded.actor.columnText)
        #expect(confirming.principal != asking.principal)
        #expect(confirming.details.contains(#""asked_by":"\#(asking.principal)""#))
        // The absorbed account is reached without a factor again.
        let other = try await scene.story.service.signIn("google", "other")
        #expect(other.userID == scene.story.other.userID)
        #expect(
            try await scene.undo(request, by: scene.kim).summary == "409 MERGE_SUPERSEDED")
    }

    @Test func `two sessions of a person are one`() async throws {
        let scene = try await Scene()
        let service = scene.story.service
        let sessions = [
            TestStaff.fields(of: try await service.staff.signIn([.support: .all])),
            TestStaff.fields(of: try await service.staff.signIn([.support: .all])),
        ]
        let path = "/v1/merges/\(scene.merge)/undo"
        let asked = try await service.send(
            "POST", path, #"{"case":"T-8"}"#, headers: MergeStory.reason + sessions[0])
        let request = try #require(asked.text("undo_request"), "\(asked.body)")
        let same = try await service.send(
            "POST", path, #"{"case":"T-8","undo_request":"\#(request)"}"#,
            headers: MergeStory.reason + sessions[1])
        #expect(same.summary == "403 SECOND_PERSON_REQUIRED")
        #expect(try await scene.undo(request, by: scene.sam).summary == "200 OK")
    }

    @Test func `a request that is forged or has expired confirms nothing`()
        async throws
    {
        let scene = try await Scene()
        let service = scene.story.service
        let request = try await scene.ask(by: scene.sam)
        let digest = try #require(request.split(separator: ".").last)
        let other = Principal(key: APIKeyID(bits: 1), role: .support)
        for forged in ["x", ".", String(digest), "operator.\(digest)", "\(other).\(digest)"] {
            #expect(
                try await scene.undo(forged, by: scene.kim).summary == "409 MERGE_PLAN_CHANGED",
                "\(forged)")
        }
        service.clock.advance(seconds: TwoPersonStep.requestLifetimeSeconds)
        #expect(try await scene.undo(request, by: scene.kim).summary == "409 MERGE_PLAN_CHANGED")
        let again = try await scene.ask(by: scene.sam)
        #expect(try await scene.undo(again, by: scene.kim).summary == "200 OK")
    }

    @Test func `without a second factor one person undoes the merge`() async throws {
        let story = try await MergeStory()
        let merged = try await story.merge(try await story.digest())
        let merge = try #require(merged.text("merge"))
        let key = try story.service.audit.key(.support)
        let plan = try await story.post(
            "/v1/merges/\(merge)/undo/preview", [:], by: key, headers: MergeStory.reason)
        #expect(plan.json["needs_two"] == .bool(false))
        let undone = try await story.post(
            "/v1/merges/\(merge)/undo", ["case": "\"T-8\""], by: key, headers: MergeStory.reason)
        #expect(undone.summary == "200 OK")
        let lines = story.service.audit.access.accesses()
        #expect(!lines.contains { $0.action == "merge.undo_request" })
    }
}
