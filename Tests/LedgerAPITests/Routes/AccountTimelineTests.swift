import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// The timeline of merged accounts, as support requests it over HTTP.
@Suite(.overBothTransports) struct AccountTimelineTests {
    /// Ada, who is refused an identity of Bob's and asks support to merge the two.
    ///
    ///     0 to 2 Ada signs up with Apple, 3 to 5 Bob signs up with Google
    ///     6 Ada cannot link Bob's Google, 7 Ada absorbs Bob
    private struct Family {
        let service: TestService
        let ada: Person
        let bob: Person
        private(set) var merge = ""

        init() async throws {
            service = try TestService()
            ada = try await service.signIn("apple", "ada", claims: ["email": "\"ada@x.example\""])
            bob = try await service.signIn("google", "bob", claims: ["email": "\"bob@x.example\""])
            service.clock.advance(seconds: 10)
            let conflict = try await service.link("google", subject: "bob", by: ada)
            #expect(conflict.summary == "409 PROVIDER_CONFLICT")
        }

        mutating func absorb() async throws {
            let path = "/v1/accounts/\(ada.userID)/merge"
            let plan = try await post(path + "/preview", #"{"absorb":"\#(bob.userID)"}"#)
            let digest = try #require(plan.text("plan_digest"))
            let merged = try await post(
                path,
                #"{"absorb":"\#(bob.userID)","plan_digest":"\#(digest)","case":"T-100"}"#)
            merge = try #require(merged.text("merge"))
        }

        func undo() async throws {
            let undone = try await post("/v1/merges/\(merge)/undo", #"{"case":"T-101"}"#)
            #expect(undone.summary == "200 OK", "\(undone.body)")
        }

        private func post(_ path: String, _ body: String) async throws -> Answer {
            try await service.send(
                "POST", path, body, token: try service.audit.key(.support),
                headers: [("Ledger-Reason", "one person")])
        }

        func timeline(
            _ account: String, _ query: String = "", as role: Role = .auditor,
            reason: String? = nil
        ) async throws -> Answer {
            try await service.send(
                "GET", "/v1/accounts/\(account)/timeline\(query)",
                token: try service.audit.key(role),
                headers: reason.map { [("Ledger-Reason", $0)] } ?? [])
        }

        /// `position account verb provider`, with `A` and `B` for the accounts.
        func rows(_ answer: Answer) throws -> [String] {
            try (answer.json["rows"]?.array ?? []).map { row in
                let members = try #require(row.members)
                let first = members["accounts"]?.array?.first?.members?["account"]?.string
                return [
                    members["position"]?.string ?? "?", first == ada.userID ? "A" : "B",
                    members["verb"]?.string ?? "?", members["provider"]?.string ?? "",
                ].joined(separator: " ")
            }
        }
    }

    private static let merged = [
        "0 A was opened ", "1 A signed up with apple", "2 A signed in with apple",
        "3 B was opened ", "4 B signed up with google", "5 B signed in with google",
        "6 A could not link google", "7 A absorbed ",
    ]

    @Test(arguments: Role.allCases)
    func `merged histories are one, under either name`(role: Role) async throws {
        var family = try await Family()
        let apart = try await family.timeline(family.bob.userID, as: role)
        #expect(try family.rows(apart) == Array(Self.merged[3...6]), "\(apart.body)")
        #expect(apart.json["merged_into"] == nil)
        try await family.absorb()
        let one = try await family.timeline(family.ada.userID, as: role)
        #expect(one.summary == "200 OK")
        #expect(try family.rows(one) == Self.merged, "\(one.body)")
        #expect(one.text("account") == family.ada.userID && one.json["requested"] == nil)
        let other = try await family.timeline(family.bob.userID, as: role)
        #expect(try family.rows(other) == Self.merged)
        #expect(other.text("requested") == family.bob.userID)
        #expect(other.text("merged_into") == family.ada.userID)
        let accounts = one.json["accounts"]?.array?.compactMap(\.members) ?? []
        #expect(accounts.map { $0["status"]?.string } == ["open", "merged"])
        #expect(accounts.map { $0["events"]?.string } == ["5", "5"])
        let proved = try #require(one.json["completeness"]?.members)
        #expect(proved["complete"] == .bool(true) && proved["events"]?.string == "8")
        #expect(
            proved["statement"]?.string
                == "Exactly 8 events touch these 2 accounts up to position 7: of each account from"
                + " seq 0 on, each naming the one before it")
        #expect(
            family.service.audit.access.accesses().suffix(2).map(\.action)
                == ["account.timeline", "account.timeline"])
    }

    @Test func `a row states the actor, the refusal and the changes`() async throws {
        var family = try await Family()
        try await family.absorb()
        let answer = try await family.timeline(family.ada.userID)
        let rows = answer.json["rows"]?.array?.compactMap(\.members) ?? []
        try #require(rows.count == 8, "\(answer.body)")
        let refused = rows[6]
        #expect(refused["outcome"]?.string == "refused")
        #expect(refused["reason"]?.string == "held_by_other")
        #expect(refused["identity_id"]?.string == rows[4]["identity_id"]?.string)
        let holder = try #require(refused["actor"]?.members)
        #expect(holder["kind"]?.string == "account_holder")
        #expect(holder["account"]?.string == family.ada.userID)
        let merge = rows[7]
        #expect(merge["event_id"]?.string == family.merge)
        #expect(merge["actor"]?.members?["kind"]?.string == "api_key")
        #expect(merge["actor"]?.members?["role"]?.string == "support")
        let parts = merge["accounts"]?.array?.compactMap(\.members) ?? []
        func providers(_ part: Int, _ name: String) -> [String?] {
            (parts[part][name]?.array ?? []).map { $0.members?["provider"]?.string }
        }
        #expect(providers(0, "before") == ["apple"])
        #expect(providers(0, "after") == ["apple", "google"])
        #expect(providers(1, "before") == ["google"] && providers(1, "after") == [])
        #expect(parts.map { $0["seq"]?.string } == ["4", "4"])
        #expect(
            parts[0]["after"]?.array?.last?.members?["identity_id"]?.string
                == rows[4]["identity_id"]?.string)
        // Of an account outside of the timeline, only that the event touches it is shown.
        let early = try await family.timeline(family.ada.userID, "?as_of=6")
        let met = try #require(early.json["rows"]?.array?.last?.members?["accounts"]?.array)
        #expect(met.map { $0.members?["before"] == nil } == [false, true])
    }

    @Test func `events of an undone merge stay in the survivor's timeline`() async throws {
        var family = try await Family()
        try await family.absorb()
        let between = try await family.service.signIn("google", "bob")
        #expect(between.userID == family.ada.userID)
        try await family.undo()
        let ada = try family.rows(try await family.timeline(family.ada.userID))
        #expect(
            ada == [
                "0 A was opened ", "1 A signed up with apple", "2 A signed in with apple",
                "6 A could not link google", "7 A absorbed ", "8 A signed in with google",
                "9 A gave back ",
            ])
        let bob = try family.rows(try await family.timeline(family.bob.userID))
        #expect(bob == Self.merged[3...7] + ["9 A gave back "])
    }

    @Test func `a merge between two pages hides nothing`() async throws {
        var family = try await Family()
        let first = try await family.timeline(family.ada.userID, "?limit=3")
        let next = try #require(first.text("next"))
        #expect(next == "2-6" && first.json["more"] == .bool(true))
        try await family.absorb()
        let second = try await family.timeline(family.ada.userID, "?limit=3&after=\(next)")
        #expect(
            try family.rows(first) + family.rows(second)
                == Self.merged[..<3] + [Self.merged[6]])
        #expect(second.json["more"] == .bool(false))
        // The next page still knows the earlier links.
        let part = second.json["rows"]?.array?.first?.members?["accounts"]?.array?.first?.members
        #expect(part?["before"]?.array?.count == 1)
        let last = try #require(second.text("next"))
        let none = try await family.timeline(family.ada.userID, "?after=\(last)")
        #expect(none.json["rows"]?.array?.isEmpty == true && none.json["next"] == nil)
        let anew = try await family.timeline(family.ada.userID, "?limit=100")
        #expect(try family.rows(anew) == Self.merged)
    }

    @Test func `newest first, pages lead back, and a merge between two changes none`() async throws
    {
        var family = try await Family()
        let first = try await family.timeline(family.ada.userID, "?order=newest&limit=2")
        let next = try #require(first.text("next"))
        #expect(next == "2-6" && first.json["more"] == .bool(true))
        #expect(try family.rows(first) == [Self.merged[6], Self.merged[2]])
        try await family.absorb()
        let rest = try await family.timeline(
            family.ada.userID, "?order=newest&limit=3&before=\(next)")
        #expect(try family.rows(rest) == [Self.merged[1], Self.merged[0]])
        #expect(rest.json["more"] == .bool(false))
        let anew = try await family.timeline(family.ada.userID, "?order=newest")
        #expect(try family.rows(anew) == Self.merged.reversed())
        #expect(anew.json["completeness"]?.members?["complete"] == .bool(true))
    }

    @Test func `personal data requires support and a reason, and is of this timeline only`()
        async throws
    {
        var family = try await Family()
        let query = "?disclose=true"
        #expect(try await family.timeline(family.ada.userID, query).summary == "403 FORBIDDEN")
        #expect(
            try await family.timeline(family.ada.userID, query, as: .support).summary
                == "400 INVALID_REQUEST")
        let apart = try await family.timeline(
            family.bob.userID, query, as: .support, reason: "ticket 7")
        #expect(apart.body.contains("bob@x.example"))
        // The conflict is in Bob's history; the disclosures of Ada's request are not.
        let rows = apart.json["rows"]?.array?.compactMap(\.members) ?? []
        #expect(rows.last?["reason"]?.string == "held_by_other")
        #expect(rows.last?["disclosures"]?.members?.count == 0, "\(apart.body)")
        let own = family.service.audit.access.accesses().last
        #expect(own?.details.contains("accounts") == false)
        let unknown = try await family.timeline(
            AccountID(bits: 7).description, query, as: .support, reason: "ticket 7")
        #expect(unknown.summary == "404 ACCOUNT_NOT_FOUND")
        let missed = family.service.audit.access.accesses().last
        #expect(missed?.account == AccountID(bits: 7) && missed?.isDisclosed == true)
        try await family.absorb()
        let one = try await family.timeline(
            family.bob.userID, query, as: .admin, reason: "ticket 8")
        for text in ["ada@x.example", "bob@x.example", "one person", "T-100"] {
            #expect(one.body.contains(text), "\(text)")
        }
        let line = family.service.audit.access.accesses().last
        #expect(line?.isDisclosed == true && line?.reason == "ticket 8")
        #expect(line?.account?.description == family.bob.userID)
        // The accounts whose personal data was shown.
        let named = "\(family.ada.userID) \(family.bob.userID)"
        #expect(line?.details.contains(#""accounts":"\#(named)""#) == true)
        let closed = try await family.timeline(
            family.bob.userID, as: .support, reason: "ticket 9")
        #expect(!closed.body.contains("x.example") && !closed.body.contains("T-100"))
    }

    @Test(arguments: [
        ("?as_of=99", "400 INVALID_REQUEST"), ("?after=1", "400 INVALID_REQUEST"),
        ("?after=2-1", "400 INVALID_REQUEST"), ("?after=2-99", "400 INVALID_REQUEST"),
        ("?after=2-5&as_of=6", "400 INVALID_REQUEST"), ("?after=2-5&as_of=5", "200 OK"),
        ("?after=2-5&as_of=2020-01-01T00:00:00Z", "400 INVALID_REQUEST"),
        ("?before=2-5", "400 INVALID_REQUEST"),
        ("?order=newest&after=2-5", "400 INVALID_REQUEST"),
        ("?order=newest&before=2-99", "400 INVALID_REQUEST"),
        ("?order=newest&before=2-5&as_of=6", "400 INVALID_REQUEST"),
        ("?order=newest&before=2-5", "200 OK"), ("?order=up", "400 INVALID_REQUEST"),
        ("?limit=0", "400 INVALID_REQUEST"), ("?from=1", "400 INVALID_REQUEST"),
        ("?as_of=0", "200 OK"), ("?as_of=2020-01-01T00:00:00Z", "200 OK"),
    ])
    func `an invalid query is refused`(
        query: String, summary: String
    ) async throws {
        let family = try await Family()
        let answer = try await family.timeline(family.ada.userID, query)
        #expect(answer.summary == summary, "\(answer.body)")
        if query == "?after=2-99" { #expect(answer.body.contains(#""after""#)) }
        let unknown = AccountID(bits: 7).description
        #expect(try await family.timeline(unknown).summary == "404 ACCOUNT_NOT_FOUND")
    }
}
