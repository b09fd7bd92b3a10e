import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// Refused claims to identities, as support requests them over HTTP.
@Suite(.overBothTransports) struct ConflictsTests {
    /// Ada and Cleo are refused Bob's Google identity, and Bob another one beside it.
    private struct Story {
        let service: TestService
        let ada: Person
        let bob: Person
        let cleo: Person

        init() async throws {
            service = try TestService()
            ada = try await service.signIn("apple", "ada")
            bob = try await service.signIn("google", "bob")
            cleo = try await service.signIn("apple", "cleo")
            for (person, subject) in [(ada, "bob"), (cleo, "bob"), (bob, "more")] {
                let answer = try await service.link("google", subject: subject, by: person)
                #expect(answer.summary == "409 PROVIDER_CONFLICT")
            }
        }

        func get(_ query: String = "", as role: Role = .support) async throws -> Answer {
            try await service.send(
                "GET", "/v1/conflicts\(query)", token: try service.audit.key(role))
        }

        /// `caller reason state`, with the names of the callers.
        func rows(_ answer: Answer) -> [String] {
            let names = [ada.userID: "ada", bob.userID: "bob", cleo.userID: "cleo"]
            return (answer.json["conflicts"]?.array ?? []).map { row in
                let caller = row.members?["caller"]?.members?["then"]?.string ?? ""
                return [
                    names[caller] ?? caller, row.members?["reason"]?.string ?? "?",
                    row.members?["state"]?.string ?? "?",
                ].joined(separator: " ")
            }
        }
    }

    @Test(arguments: Role.allCases)
    func `every role sees both parties, and no personal data`(role: Role) async throws {
        let story = try await Story()
        let answer = try await story.get(as: role)
        #expect(answer.summary == "200 OK", "\(answer.body)")
        #expect(
            story.rows(answer) == [
                "ada held_by_other open", "cleo held_by_other open", "bob provider_taken open",
            ])
        let rows = answer.json["conflicts"]?.array?.compactMap(\.members) ?? []
        let holder = rows[0]["holder"]?.members
        #expect(holder?["then"]?.string == story.bob.userID)
        #expect(holder?["now"]?.string == story.bob.userID)
        #expect(rows[0]["attempts"]?.string == "1")
        #expect(rows[0]["identity_id"]?.string == rows[1]["identity_id"]?.string)
        #expect(rows[2]["identity_id"] == nil, "it was never linked")
        #expect(rows[0]["resolved_by"] == nil)
        #expect(!answer.body.contains("\"bob\""))
        let line = story.service.audit.access.accesses().last
        #expect(line?.action == "conflict.list" && line?.isDisclosed == false)
    }

    @Test func `the resolution of a conflict is shown, and undoing a merge reopens it`()
        async throws
    {
        let story = try await Story()
        let path = "/v1/accounts/\(story.ada.userID)/merge"
        let key = try story.service.audit.key(.support)
        func post(_ path: String, _ body: String) async throws -> Answer {
            try await story.service.send(
                "POST", path, body, token: key, headers: [("Ledger-Reason", "one person")])
        }
        let plan = try await post(path + "/preview", #"{"absorb":"\#(story.bob.userID)"}"#)
        let digest = try #require(plan.text("plan_digest"))
        let merged = try await post(
            path, #"{"absorb":"\#(story.bob.userID)","plan_digest":"\#(digest)","case":"T"}"#)
        let merge = try #require(merged.text("merge"))
        let resolved = try await story.get("?state=resolved")
        #expect(story.rows(resolved) == ["ada held_by_other resolved"])
        let end = resolved.json["conflicts"]?.array?.first?.members?["resolved_by"]?.members
        #expect(end?["event_id"]?.string == merge)
        #expect(end?["type"]?.string == "AccountsMerged")
        #expect(end?["actor"]?.string?.hasPrefix("api_key:") == true)
        let open = try await story.get("?state=open")
        #expect(
            story.rows(open) == ["cleo held_by_other open", "bob provider_taken open"])
        // Ada's account is Bob's survivor, as the holder and as the caller.
        let rows = open.json["conflicts"]?.array?.compactMap(\.members) ?? []
        #expect(rows[0]["holder"]?.members?["now"]?.string == story.ada.userID)
        #expect(rows[1]["caller"]?.members?["now"]?.string == story.ada.userID)
        let undone = try await post("/v1/merges/\(merge)/undo", #"{"case":"T"}"#)
        #expect(undone.summary == "200 OK")
        let again = try await story.get("?state=open")
        #expect(story.rows(again).first == "ada held_by_other open")
        #expect(story.rows(try await story.get("?state=resolved")) == [])
    }

    @Test func `pages continue after the last attempt, and a further attempt comes last`()
        async throws
    {
        let story = try await Story()
        let first = try await story.get("?limit=1")
        #expect(story.rows(first) == ["ada held_by_other open"])
        #expect(first.json["more"] == .bool(true))
        let again = try await story.service.link("google", subject: "bob", by: story.ada)
        #expect(again.summary == "409 PROVIDER_CONFLICT")
        let next = try #require(first.text("next"))
        let rest = try await story.get("?after=\(next)")
        #expect(
            story.rows(rest) == [
                "cleo held_by_other open", "bob provider_taken open", "ada held_by_other open",
            ])
        let last = rest.json["conflicts"]?.array?.last?.members
        #expect(last?["attempts"]?.string == "2")
        #expect(last?["first_attempt"]?.members?["position"]?.string == next)
        #expect(rest.json["folded"]?.members?["size"] == rest.json["folded"]?.members?["log_size"])
    }

    @Test func `newest first, the last attempt comes first`() async throws {
        let story = try await Story()
        let first = try await story.get("?order=newest&limit=2")
        #expect(
            story.rows(first) == ["bob provider_taken open", "cleo held_by_other open"])
        let next = try #require(first.text("next"))
        let rest = try await story.get("?order=newest&before=\(next)")
        #expect(story.rows(rest) == ["ada held_by_other open"])
        #expect(rest.json["more"] == .bool(false))
    }

    @Test func `support notes that a conflict was looked at, until its next attempt`() async throws
    {
        let story = try await Story()
        let service = story.service
        let rows = try await story.get().json["conflicts"]?.array?.compactMap(\.members) ?? []
        let first = try #require(rows.first?["event_id"]?.string)
        #expect(rows[0]["first_attempt"]?.members?["event_id"]?.string == first)
        #expect(rows[0]["review"] == nil)
        let path = "/v1/conflicts/\(first)/review"
        func send(
            _ method: String, _ path: String, _ body: String? = nil, as role: Role = .support
        ) async throws -> Answer {
            try await service.send(method, path, body, token: try service.audit.key(role))
        }
        let note = #"{"note":"Two people. Beide haben geantwortet: \u00fc"}"#
        #expect(try await send("PUT", path, note, as: .auditor).summary == "403 FORBIDDEN")
        let written = try await send("PUT", path, note)
        #expect(written.summary == "200 OK", "\(written.body)")
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.action == "conflict.review" && line.event?.description == first)
        #expect(!line.details.contains("people"))
        let review = written.json["conflict"]?.members?["review"]?.members
        #expect(review?["note"]?.string == "Two people. Beide haben geantwortet: ü")
        #expect(review?["by"]?.string == line.principal)
        #expect(review?["at"]?.string == service.clock.now.description)
        for role in Role.allCases {
            for answer in [
                try await story.get(as: role),
                try await send("GET", "/v1/conflicts/\(first)", as: role),
            ] {
                #expect(answer.body.contains("geantwortet") == (role != .auditor), "\(role)")
                #expect(answer.body.contains("\"review\""))
            }
        }
        func counts() async throws -> [String?] {
            let answer = try await send("GET", "/v1/conflicts/counts", as: .auditor)
            return ["open", "resolved", "reviewed"].map { answer.text($0) }
        }
        #expect(try await counts() == ["3", "0", "1"])
        _ = try await service.link("google", subject: "bob", by: story.ada)
        #expect(try await counts() == ["3", "0", "0"])
        #expect(
            try await send("GET", "/v1/conflicts/\(first)").json["conflict"]?.members?["review"]
                == nil)
        _ = try await send("PUT", path, #"{"note":"again"}"#, as: .admin)
        #expect(try await counts() == ["3", "0", "1"])
        let deleted = try await send("DELETE", path)
        #expect(deleted.summary == "200 OK" && !deleted.body.contains("again"))
        #expect(try await counts() == ["3", "0", "0"])
        #expect(try await send("DELETE", path).summary == "200 OK")
    }

    @Test(arguments: [
        #"{}"#, #"{"note":""}"#, #"{"note":"a\u0007b"}"#, #"{"note":7}"#,
        "{\"note\":\"\(String(repeating: "x", count: 1_001))\"}",
    ])
    func `a malformed note is refused`(body: String) async throws {
        let story = try await Story()
        let rows = try await story.get().json["conflicts"]?.array?.compactMap(\.members) ?? []
        let first = try #require(rows.first?["event_id"]?.string)
        let key = try story.service.audit.key(.support)
        let answer = try await story.service.send(
            "PUT", "/v1/conflicts/\(first)/review", body, token: key)
        #expect(answer.summary == "400 INVALID_REQUEST", "\(answer.body)")
        for unknown in ["x", EventID(bits: 7).description] {
            let answer = try await story.service.send(
                "PUT", "/v1/conflicts/\(unknown)/review", #"{"note":"a"}"#, token: key)
            #expect(answer.summary == "404 EVENT_NOT_FOUND")
        }
    }

    @Test func `an account's conflicts are those as caller or holder`() async throws {
        let story = try await Story()
        let bob = try await story.get("?account=\(story.bob.userID)")
        #expect(story.rows(bob).count == 3)
        let ada = try await story.get("?account=\(story.ada.userID)")
        #expect(story.rows(ada) == ["ada held_by_other open"])
        #expect(
            story.service.audit.access.accesses().last?.account?.description
                == story.ada.userID)
        let nobody = try await story.get("?account=\(AccountID(bits: 7))")
        #expect(story.rows(nobody) == [] && nobody.json["more"] == .bool(false))
    }

    @Test(arguments: [
        "?before=1", "?order=newest&after=1", "?order=first", "?state=closed", "?account=x",
        "?after=-1", "?after=x", "?limit=0", "?reason=x",
        "?state=open&state=open", "?disclose=true",
    ])
    func `an invalid query is refused`(query: String) async throws {
        let story = try await Story()
        #expect(try await story.get(query).summary == "400 INVALID_REQUEST")
        let holder = try await story.service.send(
            "GET", "/v1/conflicts", token: story.ada.accessToken)
        #expect(holder.summary == "401 INVALID_API_KEY")
    }
}
