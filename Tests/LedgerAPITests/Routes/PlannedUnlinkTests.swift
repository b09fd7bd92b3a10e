import JSON
import Ledger
import LedgerTestSupport
import Testing

/// Unlinks by support over HTTP: planned, stopped, and done when they are due.
@Suite(.overBothTransports) struct PlannedUnlinkTests {
    private static let reason = [(name: "Ledger-Reason", value: "not theirs")]

    /// Ada with Apple and Google; support unlinks Google.
    private struct Story {
        let service: TestService
        let ada: Person
        let identity: String
        let support: String

        init() async throws {
            service = try TestService()
            ada = try await service.signIn("apple", "ada")
            #expect(try await service.link("google", subject: "ada-g", by: ada).status == 200)
            let account = try await service.account(ada.accessToken)
            let identities = try #require(account.json["identities"]?.array)
            identity = try #require(identities.last?.members?["identity_id"]?.string)
            support = try service.audit.key(.support)
        }

        func change(
            _ suffix: String, _ body: String = #"{"case":"T-9"}"#, identity: String? = nil,
            account: String? = nil, by key: String? = nil,
            headers: [(name: String, value: String)] = PlannedUnlinkTests.reason
        ) async throws -> Answer {
            let path =
                "/v1/accounts/\(account ?? ada.userID)/identities/\(identity ?? self.identity)"
            return try await service.send(
                "POST", "\(path)/\(suffix)", body, token: key ?? support, headers: headers)
        }

        func keep(by person: Person, identity: String? = nil) async throws -> Answer {
            try await service.send(
                "POST", "/v1/account/identities/\(identity ?? self.identity)/keep", "{}",
                token: person.accessToken)
        }

        /// The times at which the holder's identities are unlinked.
        func shown() async throws -> [String?] {
            let account = try await service.account(ada.accessToken)
            return account.json["identities"]?.array?.map { $0.members?["unlink_due"]?.string }
                ?? []
        }

        /// The same times for support.
        func shownToSupport() async throws -> [String?] {
            let answer = try await service.send(
                "GET", "/v1/accounts/\(ada.userID)", token: support)
            return answer.json["links"]?.array?.map { $0.members?["unlink_due"]?.string } ?? []
        }

        /// Executes what is due, as a server does.
        func executeDue() async throws -> Result<Reply, Refusal> {
            let identity = try #require(IdentityID(identity))
            let account = try #require(AccountID(ada.userID))
            let command = Command(
                id: CommandID(at: service.clock.now, random: 9), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: .endUnlinkPlan(EndUnlinkPlan(of: identity, .due(account))))
            return try await service.ledger.submit(command)
        }
    }

    @Test func `support previews and plans an unlink, which happens after a day`() async throws {
        let story = try await Story()
        let thief = try await story.service.signIn("google", "ada-g")
        let preview = try await story.change("unlink/preview", "")
        #expect(preview.summary == "200 OK", "\(preview.body)")
        #expect(preview.providers == ["apple"] && preview.json["event"] == nil)
        #expect(preview.json["session_count"]?.number == 1)
        #expect(preview.json["sessions"]?.array?.count == 1)
        #expect(try await story.shown() == [nil, nil])

        let planned = try await story.change("unlink")
        #expect(planned.summary == "200 OK", "\(planned.body)")
        let due = try #require(planned.text("unlink_due"))
        #expect(planned.providers == ["apple"] && planned.text("provider") == "google")
        let recording = try #require(story.service.ledger.recordings().last)
        #expect(planned.text("event") == recording.recorded.id.description)
        let disclosed = recording.disclosed.map { "\($0.name.rawValue)=\($0.value)" }
        #expect(Set(disclosed) == ["case_reference=T-9", "reason=not theirs"])
        #expect(try await story.shown() == [nil, due])
        #expect(try await story.shownToSupport() == [nil, due])
        let line = try #require(
            story.service.audit.access.accesses().last { $0.action == "identity.unlink" })
        #expect(line.details == #"{"case":"T-9","identity":"\#(story.identity)"}"#)
        let again = try await story.change("unlink")
        #expect(again.text("unlink_due") == due && again.json["event"] == nil)

        // Neither the time nor a sign-in with the identity ends it early.
        story.service.clock.advance(seconds: 86_000)
        let back = try await story.service.signIn("google", "ada-g")
        #expect(try await story.executeDue() == .failure(.providerNotLinked))
        story.service.clock.advance(seconds: 500)
        #expect(try await story.executeDue() == .success(.unlinkPlanEnded(.unlinked)))
        #expect(story.service.log().suffix(2) == ["SignedIn", "ProviderUnlinked"])
        for person in [thief, back] {
            #expect(try await story.service.account(person.accessToken).status == 401)
        }
        #expect(try await story.shownToSupport() == [nil])
        let stranger = try await story.service.signIn("google", "ada-g")
        #expect(stranger.isNew && stranger.userID != story.ada.userID)
    }

    @Test func `the holder stops it in any session, and support does`() async throws {
        let story = try await Story()
        #expect(try await story.change("unlink").status == 200)
        let other = try await story.service.signIn("google", "ada-g")
        let kept = try await story.keep(by: other)
        #expect(kept.summary == "200 OK", "\(kept.body)")
        #expect(kept.json["identities"]?.array?.count == 2 && !kept.body.contains("unlink_due"))
        #expect(story.service.log().last == "ProviderUnlinkStopped")
        #expect(try await story.keep(by: story.ada).summary == "404 PROVIDER_NOT_LINKED")
        #expect(
            try await story.keep(by: story.ada, identity: "x").summary
                == "404 PROVIDER_NOT_LINKED")

        #expect(try await story.change("unlink").text("event") != nil)
        let bob = try await story.service.signIn("apple", "bob")
        #expect(try await story.keep(by: bob).summary == "404 PROVIDER_NOT_LINKED")
        let stopped = try await story.change("keep")
        #expect(stopped.text("event") != nil && stopped.json["unlink_due"] == nil)
        #expect(stopped.providers == ["apple", "google"])
        #expect(try await story.change("keep").json["event"] == nil)
        #expect(try await story.shown() == [nil, nil])
        story.service.clock.advance(seconds: 90_000)
        #expect(try await story.executeDue() == .failure(.providerNotLinked))
    }

    @Test func `what can't be unlinked is refused`() async throws {
        let story = try await Story()
        let bob = try await story.service.signIn("apple", "bob")
        let identities = try await story.service.account(bob.accessToken).json["identities"]
        let only = identities?.array?.first?.members?["identity_id"]?.string
        for suffix in ["unlink", "unlink/preview"] {
            let body = suffix == "unlink" ? #"{"case":"T-9"}"# : ""
            #expect(
                try await story.change(suffix, body, identity: only, account: bob.userID).summary
                    == "400 CANNOT_UNLINK_ONLY_PROVIDER")
            for identity in [only, "nothing"] {
                #expect(
                    try await story.change(suffix, body, identity: identity).summary
                        == "404 PROVIDER_NOT_LINKED")
            }
            #expect(
                try await story.change(suffix, body, account: "unknown").summary
                    == "404 ACCOUNT_NOT_FOUND")
        }
        let line = try #require(
            story.service.audit.access.accesses().last { $0.outcome == "refused" })
        #expect(line.details.contains(#""refusal":"PROVIDER_NOT_LINKED""#))
    }

    @Test func `an identity of a merged account is unlinked from its survivor`() async throws {
        let story = try await Story()
        let bob = try await story.service.signIn("google", "bob")
        _ = try await story.change("unlink")
        let path = "/v1/accounts/\(bob.userID)/merge"
        let absorb = #""absorb":"\#(story.ada.userID)","keep":{"google":"absorbed"}"#
        func send(_ path: String, _ body: String) async throws -> Answer {
            try await story.service.send(
                "POST", path, body, token: story.support, headers: Self.reason)
        }
        let digest = try #require(
            try await send(path + "/preview", "{\(absorb)}").text("plan_digest"))
        let merged = try await send(
            path, #"{\#(absorb),"plan_digest":"\#(digest)","case":"T-1"}"#)
        #expect(merged.status == 200, "\(merged.body)")
        for suffix in ["unlink", "keep"] {
            let refused = try await story.change(suffix)
            #expect(refused.summary == "409 ACCOUNT_MERGED")
        }
        // Its plan has ended with the merge.
        #expect(try await story.change("keep", account: bob.userID).json["event"] == nil)
        #expect(try await story.change("unlink", account: bob.userID).text("event") != nil)
    }

    @Test(arguments: ["unlink", "unlink/preview", "keep"])
    func `only support and administrators plan and stop it, with a reason and a case`(
        suffix: String
    ) async throws {
        let story = try await Story()
        let auditor = try story.service.audit.key(.auditor)
        #expect(try await story.change(suffix, by: auditor).summary == "403 FORBIDDEN")
        #expect(
            try await story.change(suffix, by: story.ada.accessToken).summary
                == "401 INVALID_API_KEY")
        #expect(try await story.change(suffix, headers: []).summary == "400 INVALID_REQUEST")
        if suffix != "unlink/preview" {
            #expect(try await story.change(suffix, "{}").summary == "400 INVALID_REQUEST")
        }
        let admin = try story.service.audit.key(.admin)
        #expect(
            try await story.change(
                suffix, suffix.hasSuffix("preview") ? "" : #"{"case":"T"}"#, by: admin
            )
            .status == 200)
    }
}
