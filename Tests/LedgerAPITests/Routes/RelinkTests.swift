import Cryptography
import JSON
import Ledger
import LedgerTestSupport
import Testing

/// Undone unlinks, by support over HTTP.
@Suite(.overBothTransports) struct RelinkTests {
    private static let reason = [(name: "Ledger-Reason", value: "by mistake")]

    /// Ada with Apple and Google, of which she has unlinked Google.
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
            #expect(try await service.unlink("google", by: ada).status == 200)
            support = try service.audit.key(.support)
        }

        func relink(
            _ suffix: String = "", _ body: String = #"{"case":"T-9"}"#, identity: String? = nil,
            account: String? = nil, by key: String? = nil,
            headers: [(name: String, value: String)] = RelinkTests.reason
        ) async throws -> Answer {
            let path =
                "/v1/accounts/\(account ?? ada.userID)/identities/\(identity ?? self.identity)"
            return try await service.send(
                "POST", "\(path)/relink\(suffix)", body, token: key ?? support, headers: headers)
        }

        /// The refusal and its reason.
        func refusal(_ answer: Answer) -> String {
            let details = answer.json["error"]?.members?["details"]?.members
            return [answer.summary, details?["reason"]?.string].compactMap(\.self)
                .joined(separator: " ")
        }
    }

    @Test func `support previews and makes a relink, and the identity signs in again`()
        async throws
    {
        let story = try await Story()
        let plan = try await story.relink("/preview", "")
        #expect(plan.summary == "200 OK", "\(plan.body)")
        #expect(plan.text("user_id") == story.ada.userID && plan.text("relink") == nil)
        #expect(plan.providers == ["apple", "google"])
        #expect(story.service.log().last == "ProviderUnlinked")

        let done = try await story.relink()
        #expect(done.summary == "200 OK", "\(done.body)")
        #expect(done.text("identity_id") == story.identity && done.text("provider") == "google")
        #expect(done.providers == ["apple", "google"])
        let recording = try #require(story.service.ledger.recordings().last)
        #expect(done.text("relink") == recording.recorded.id.description)
        let disclosed = recording.disclosed.map { "\($0.name.rawValue)=\($0.value)" }
        #expect(
            Set(disclosed).isSuperset(of: [
                "case_reference=T-9", "reason=by mistake", "provider_id=ada-g",
            ]), "\(disclosed)")
        let entry = String(decoding: recording.entry, as: UTF8.self)
        #expect(entry.contains(#""details":{"cause":"relink","identity":"\#(story.identity)""#))
        #expect(!entry.contains("T-9") && !entry.contains("ada-g"))
        let line = try #require(story.service.audit.access.accesses().last)
        #expect(line.action == "identity.relink" && line.reason == "by mistake")
        #expect(line.account?.description == story.ada.userID)
        #expect(line.details == #"{"case":"T-9","identity":"\#(story.identity)"}"#)

        let back = try await story.service.signIn("google", "ada-g")
        #expect(back.userID == story.ada.userID && !back.isNew)
        #expect(try await story.service.account(story.ada.accessToken).summary == "200 OK")
        #expect(
            story.refusal(try await story.relink()) == "409 RELINK_REFUSED already_linked")
    }

    @Test func `an identity that cannot be linked again is refused with its reason`() async throws {
        let story = try await Story()
        let other = try await story.service.signIn("apple", "other")
        func refusal(identity: String? = nil, account: String? = nil) async throws -> String {
            story.refusal(try await story.relink(identity: identity, account: account))
        }
        #expect(
            try await refusal(account: other.userID)
                == "409 RELINK_REFUSED not_linked_here_last")
        for nobody in ["0190a1b2-c3d4-7000-8000-000000000001", "nobody"] {
            #expect(
                try await refusal(identity: nobody) == "409 RELINK_REFUSED not_linked_here_last")
            #expect(try await refusal(account: nobody) == "404 ACCOUNT_NOT_FOUND")
        }
        #expect(try await story.service.link("google", subject: "new", by: story.ada).status == 200)
        #expect(try await refusal() == "409 RELINK_REFUSED provider_taken")
        #expect(try await story.service.unlink("google", by: story.ada).status == 200)
        _ = try await story.service.signIn("google", "ada-g")
        #expect(try await refusal() == "409 RELINK_REFUSED not_linked_here_last")
        let line = try #require(story.service.audit.access.accesses().last)
        #expect(line.outcome == "refused" && line.details.contains(#""refusal":"RELINK_REFUSED""#))
        let admin = try story.service.audit.key(.admin)
        let erased = try await story.service.send(
            "DELETE", "/v1/accounts/\(story.ada.userID)", token: admin, headers: Self.reason)
        #expect(erased.status == 200)
        #expect(try await refusal() == "410 ACCOUNT_ERASED")
    }

    @Test func `only support, with a reason and a case, undoes an unlink`() async throws {
        let story = try await Story()
        let auditor = try story.service.audit.key(.auditor)
        for suffix in ["", "/preview"] {
            #expect(try await story.relink(suffix, by: auditor).summary == "403 FORBIDDEN")
            #expect(
                try await story.relink(suffix, by: story.ada.accessToken).summary
                    == "401 INVALID_API_KEY")
            #expect(try await story.relink(suffix, headers: []).summary == "400 INVALID_REQUEST")
        }
        for body in ["", "{}", #"{"case":""}"#, #"{"case":"é"}"#, #"{"case":7}"#] {
            #expect(try await story.relink("", body).summary == "400 INVALID_REQUEST")
        }
        #expect(story.service.log().last == "ProviderUnlinked")
    }
}
