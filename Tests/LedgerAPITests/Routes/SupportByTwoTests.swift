import JSON
import Ledger
import LedgerTestSupport
import Testing

/// A plan of support that a second person carries out at once.
@Suite(.overBothTransports) struct SupportByTwoTests {
    /// The plans that two persons may do at once.
    enum Kind: CaseIterable, Sendable {
        case removal
        case unlink

        var event: String { self == .removal ? "SecondFactorRemoved" : "ProviderUnlinked" }
        var due: String { self == .removal ? "removal_due" : "unlink_due" }
    }

    /// An account with Google, Apple and an authenticator app.
    private struct Scene {
        let service: TestService
        let kind: Kind
        let account: String
        let path: String
        let sam: String
        let kim: String

        init(_ kind: Kind, isRuled: Bool = true) async throws {
            self.kind = kind
            service = try TestService { $0.supportNeedsTwo = isRuled }
            try await service.recordRules()
            let ada = try await service.signIn("google", "ada")
            #expect(try await service.link("apple", subject: "ada-a", by: ada).status == 200)
            let linked = try await service.account(ada.accessToken).json["identities"]?.array
            let identity = try #require(linked?.last?.members?["identity_id"]?.string)
            let factor = try await service.enrol(ada).factor
            account = "/v1/accounts/\(ada.userID)"
            path =
                kind == .removal ? "/factors/\(factor)/removal" : "/identities/\(identity)/unlink"
            sam = try service.audit.key(.support)
            kim = try service.audit.key(.support)
        }

        func post(_ path: String, _ body: String, by key: String) async throws -> Answer {
            try await service.send(
                "POST", account + path, body, token: key,
                headers: [(name: "Ledger-Reason", value: "lost phone")])
        }

        /// Plans it, or confirms a request.
        func plan(_ request: String? = nil, by key: String) async throws -> Answer {
            let confirmed = request.map { #","confirm_request":"\#($0)""# } ?? ""
            return try await post(path, #"{"case":"T-7"\#(confirmed)}"#, by: key)
        }

        /// Stops it.
        func keep() async throws {
            let kept = try await post(
                path.replacing(/\/\w+$/, with: "/keep"), #"{"case":"T-7"}"#, by: kim)
            #expect(kept.text("event") != nil, "\(kept.body)")
        }

        var isDone: Bool { service.log().contains(kind.event) }
    }

    @Test(arguments: Kind.allCases)
    func `a second person does at once what the first one planned`(kind: Kind) async throws {
        let scene = try await Scene(kind)
        let planned = try await scene.plan(by: scene.sam)
        #expect(planned.summary == "200 OK", "\(planned.body)")
        #expect(planned.text(kind.due) != nil && !scene.isDone)
        let request = try #require(planned.text("confirm_request"))
        // The log names the person of a new plan alone.
        let repeated = try await scene.plan(by: scene.kim)
        #expect(repeated.text(kind.due) != nil && repeated.json["confirm_request"] == nil)
        #expect(
            try await scene.plan(request, by: scene.sam).summary == "403 SECOND_PERSON_REQUIRED")
        #expect(!scene.isDone)
        let done = try await scene.plan(request, by: scene.kim)
        #expect(done.summary == "200 OK", "\(done.body)")
        #expect(done.json[kind.due] == nil && done.json["confirm_request"] == nil)
        #expect(done.text("event") != nil && scene.isDone)
        let recording = try #require(scene.service.ledger.recordings().last)
        guard case .principal(let actor) = recording.recorded.actor else {
            Issue.record("another actor: \(recording.recorded.actor)")
            return
        }
        let asker = try #require(recording.recorded.event.supportEffect?.asker)
        #expect(request.hasPrefix("\(asker).") && asker.id != actor.id)
        let disclosed = recording.disclosed.map { "\($0.name.rawValue)=\($0.value)" }
        #expect(Set(disclosed) == ["case_reference=T-7", "reason=lost phone"])
        let line = try #require(scene.service.audit.access.accesses().last)
        #expect(line.details.contains("asked_by"))
        #expect(try await scene.plan(request, by: scene.kim).status == 404)
    }

    @Test(arguments: Kind.allCases)
    func `a request is of one plan, valid for an hour, and of a tenant with the rule`(
        kind: Kind
    ) async throws {
        let scene = try await Scene(kind)
        func refuses(_ request: String) async throws -> Bool {
            try await scene.plan(request, by: scene.kim).summary == "409 MERGE_PLAN_CHANGED"
        }
        let first = try #require(try await scene.plan(by: scene.sam).text("confirm_request"))
        #expect(try await refuses("x"))
        #expect(try await refuses(first + "x"))
        try await scene.keep()
        #expect(try await refuses(first))
        // Another plan has another time.
        scene.service.clock.advance(seconds: 1)
        let second = try #require(try await scene.plan(by: scene.sam).text("confirm_request"))
        #expect(try await refuses(first))
        scene.service.clock.advance(seconds: 3_700)
        #expect(try await refuses(second))
        #expect(!scene.isDone)

        let other = try await Scene(kind, isRuled: false)
        let planned = try await other.plan(by: other.sam)
        #expect(planned.text(kind.due) != nil && planned.json["confirm_request"] == nil)
        #expect(try await other.plan(second, by: other.kim).summary == "409 MERGE_PLAN_CHANGED")
    }

    @Test(arguments: Kind.allCases)
    func `nothing is confirmed while the account is disabled`(kind: Kind) async throws {
        let scene = try await Scene(kind)
        let request = try #require(try await scene.plan(by: scene.sam).text("confirm_request"))
        #expect(try await scene.post("/disable", #"{"case":"T-7"}"#, by: scene.kim).status == 200)
        #expect(try await scene.plan(request, by: scene.kim).summary == "403 ACCOUNT_DISABLED")
        #expect(!scene.isDone)
    }
}
