import JSON
import Ledger
import LedgerAPI
import LedgerSignIn
import LedgerTestSupport
import Testing

/// Erasures that need two administrators, over HTTP.
@Suite(.overBothTransports) struct ErasureRequestTests {
    private static let reason = [(name: "Ledger-Reason", value: "case 4711")]

    /// A service in which an erasure needs two people, and the account of Ada.
    private struct Scene {
        let service: TestService
        let ada: Person
        let sam: String
        let kim: String

        init() async throws {
            service = try TestService { $0.eraseNeedsTwo = true }
            ada = try await service.signIn("google", "ada")
            sam = try service.audit.key(.admin)
            kim = try service.audit.key(.admin)
        }

        var account: String { "/v1/accounts/\(ada.userID)" }

        func send(
            _ method: String, _ path: String, _ body: String? = nil, by key: String
        ) async throws -> Answer {
            try await service.send(
                method, path, body, token: key, headers: ErasureRequestTests.reason)
        }

        func preview(by key: String) async throws -> String {
            let answer = try await send("POST", account + "/erasure/preview", by: key)
            return try #require(answer.text("plan_digest"), "\(answer.body)")
        }

        func ask(by key: String) async throws -> Answer {
            let digest = try await preview(by: key)
            return try await send(
                "DELETE", account + "?basis=retention&plan_digest=\(digest)", by: key)
        }

        func confirm(_ request: String, _ digest: String? = nil, by key: String) async throws
            -> Answer
        {
            let agreed = if let digest { digest } else { try await preview(by: key) }
            return try await send(
                "POST", "\(account)/erasure/requests/\(request)/confirm",
                "{\"plan_digest\":\"\(agreed)\"}", by: key)
        }

        func isErased() -> Bool {
            service.ledger.events().contains { if case .accountErased = $0 { true } else { false } }
        }

        func requests(by key: String, _ query: String = "") async throws -> [JSONMembers] {
            let answer = try await send("GET", "/v1/erasure-requests" + query, by: key)
            return (answer.json["requests"]?.array ?? []).compactMap(\.members)
        }
    }

    @Test func `the first call asks, the same key cannot confirm, and another one erases`()
        async throws
    {
        let scene = try await Scene()
        let asked = try await scene.ask(by: scene.sam)
        #expect(asked.status == 202, "\(asked.body)")
        let request = try #require(asked.text("request_id"))
        #expect(asked.text("basis") == "retention" && asked.text("reason") == "case 4711")
        #expect(asked.json["yours"] == .bool(true))
        let expiry = scene.service.clock.now.adding(seconds: 86_400)
        #expect(asked.text("expires_at") == expiry.description)
        #expect(!scene.isErased())
        // A lost answer is asked for again.
        let again = try await scene.ask(by: scene.sam)
        #expect(again.status == 202 && again.text("request_id") == request)
        #expect(try await scene.ask(by: scene.kim).summary == "409 ERASURE_REQUESTED")
        for query in ["", "?account=\(scene.ada.userID)"] {
            let (own, others) = (
                try await scene.requests(by: scene.sam, query),
                try await scene.requests(by: scene.kim, query)
            )
            #expect(own.map { $0["yours"] } == [.bool(true)])
            #expect(others.map { $0["yours"] } == [.bool(false)])
            #expect(others.first?["request_id"]?.string == request)
        }
        #expect(
            try await scene.confirm(request, by: scene.sam).summary
                == "403 SECOND_ADMINISTRATOR_REQUIRED")
        #expect(
            try await scene.confirm(request, "x", by: scene.kim).summary
                == "409 ERASURE_PLAN_CHANGED")
        #expect(!scene.isErased())
        let erased = try await scene.confirm(request, by: scene.kim)
        #expect(erased.summary == "200 OK" && erased.json["erased_before"] == .bool(false))
        #expect(try await scene.requests(by: scene.kim).isEmpty)
        let repeated = try await scene.confirm(request, "x", by: scene.kim)
        #expect(repeated.json["erased_before"] == .bool(true))

        let recorded = try #require(scene.service.ledger.recordings().last).recorded
        guard case .accountErased(let fact) = recorded.event else {
            Issue.record("\(recorded.event)")
            return
        }
        #expect(fact.asker?.description == asked.text("asked_by"))
        #expect(fact.basis == .retention)
        #expect(recorded.actor.columnText != fact.asker?.description)
        let lines = scene.service.audit.access.accesses()
        #expect(!lines.contains { $0.action == "account.erase" }, "no one has erased alone")
        let asking = try #require(
            lines.first {
                $0.action == "account.erase_request"
                    && $0.details == #"{"erasure_request":"\#(request)"}"#
            })
        #expect(asking.principal == fact.asker?.description && asking.reason == "case 4711")
        let confirming = try #require(
            lines.last { $0.action == "account.erase_confirm" && $0.outcome == "allowed" })
        #expect(confirming.principal == recorded.actor.columnText)
        #expect(
            lines.contains { $0.action == "account.erase_confirm" && $0.outcome == "refused" })
    }

    @Test func `a session and a key are two, two sessions of a person one`() async throws {
        let scene = try await Scene()
        let staff = scene.service.staff
        let sessions = [
            TestStaff.fields(of: try await staff.signIn([.admin: .all])),
            TestStaff.fields(of: try await staff.signIn([.admin: .all])),
        ]
        let asked = try await scene.service.send(
            "DELETE", scene.account, headers: Self.reason + sessions[0])
        let request = try #require(asked.text("request_id"), "\(asked.body)")
        let plan = try await scene.preview(by: scene.sam)
        let path = "\(scene.account)/erasure/requests/\(request)/confirm"
        let same = try await scene.service.send(
            "POST", path, "{\"plan_digest\":\"\(plan)\"}", headers: Self.reason + sessions[1])
        #expect(same.summary == "403 SECOND_ADMINISTRATOR_REQUIRED")
        let past = scene.service.clock.now.adding(seconds: -301)
        let old = TestStaff.fields(
            of: try await staff.signIn([.admin: .all], number: 2, authenticatedAt: past))
        let stale = try await scene.service.send(
            "POST", path, "{\"plan_digest\":\"\(plan)\"}", headers: Self.reason + old)
        #expect(stale.summary == "403 REAUTHENTICATION_REQUIRED")
        #expect(!scene.isErased())
        #expect(try await scene.confirm(request, by: scene.sam).summary == "200 OK")
    }

    @Test func `a request ends by a withdrawal, after a day, and with a changed plan`() async throws
    {
        let scene = try await Scene()
        func ask() async throws -> String {
            try #require(try await scene.ask(by: scene.sam).text("request_id"))
        }
        let withdrawn = try await ask()
        let path = "\(scene.account)/erasure/requests/\(withdrawn)"
        #expect(try await scene.send("DELETE", path, by: scene.kim).body == "{}")
        #expect(
            try await scene.send("DELETE", path, by: scene.kim).summary
                == "404 ERASURE_REQUEST_NOT_FOUND")
        let line = try #require(
            scene.service.audit.access.accesses().first { $0.action == "account.erase_withdraw" })
        #expect(line.reason == "case 4711" && line.details.contains(withdrawn))
        let expired = try await ask()
        scene.service.clock.advance(seconds: 86_400)
        #expect(try await scene.requests(by: scene.kim).isEmpty)
        let held = try await ask()
        for ended in [withdrawn, expired] {
            #expect(
                try await scene.confirm(ended, by: scene.kim).summary
                    == "404 ERASURE_REQUEST_NOT_FOUND")
        }
        let before = try await scene.preview(by: scene.kim)
        _ = try await scene.send("POST", scene.account + "/holds", by: scene.kim)
        #expect(
            try await scene.confirm(held, before, by: scene.kim).summary
                == "409 ERASURE_PLAN_CHANGED")
        #expect(try await scene.confirm(held, by: scene.kim).summary == "409 LEGAL_HOLD")
        #expect(!scene.isErased())
    }

    @Test func `without the rule the first call erases`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        let erased = try await service.send(
            "DELETE", "/v1/accounts/\(ada.userID)", token: try service.audit.key(.admin),
            headers: Self.reason)
        #expect(erased.summary == "200 OK")
        guard case .accountErased(let fact) = service.ledger.events().last else { return }
        #expect(fact.asker == nil && fact.version == 2)
        #expect(service.audit.access.accesses().map(\.action) == ["account.erase"])
    }

    @Test func `the recorded rules decide, and the access log says what happened`() async throws {
        for isRuled in [true, false] {
            let ruled = try TestService { $0.eraseNeedsTwo = isRuled }
            try await ruled.recordRules()
            let ada = try await ruled.signIn("google", "ada")
            // Another server's configuration has the opposite.
            let other = try ruled.restarted { $0.eraseNeedsTwo = !isRuled }
            let answer = try await other.send(
                "DELETE", "/v1/accounts/\(ada.userID)", token: try other.audit.key(.admin),
                headers: Self.reason)
            #expect(answer.status == (isRuled ? 202 : 200), "\(answer.body)")
            #expect(
                other.audit.access.accesses().map(\.action)
                    == (isRuled
                        ? ["account.erase", "account.erase_request"]
                        : ["account.erase_request", "account.erase"]))
        }
    }
}
