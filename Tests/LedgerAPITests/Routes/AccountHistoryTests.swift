import Cryptography
import Encodings
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// The history of an account, as auditors and support request it over HTTP.
@Suite(.overBothTransports) struct AccountHistoryTests {
    /// A service in which Ada has linked Google and unlinked it: events 0 to 4, then Bob's 5 to 7.
    private struct Past {
        let service: TestService
        let ada: Person
        let bob: Person

        init() async throws {
            let service = try TestService()
            self.service = service
            ada = try await service.signIn("apple", "ada", claims: ["email": "\"ada@x.example\""])
            service.clock.advance(seconds: 10)
            _ = try await service.link("google", service.idToken("google", "ada-g"), by: ada)
            service.clock.advance(seconds: 10)
            _ = try await service.send(
                "DELETE", "/v1/auth/link/google", token: ada.accessToken)
            bob = try await service.signIn("google", "ada-g")
        }

        func get(
            _ path: String, as role: Role = .auditor, reason: String? = nil
        ) async throws -> Answer {
            try await service.send(
                "GET", "/v1/accounts/" + path, token: try service.audit.key(role),
                headers: reason.map { [("Ledger-Reason", $0)] } ?? [])
        }

        var lines: [LoggedAccess] { service.audit.access.accesses() }
    }

    @Test(arguments: Role.allCases)
    func `an account as of any moment`(role: Role) async throws {
        let past = try await Past()
        let now = try await past.get(past.ada.userID, as: role)
        #expect(now.summary == "200 OK", "\(now.body)")
        #expect(now.text("account") == past.ada.userID)
        #expect(now.text("status") == "open")
        #expect(now.providers == ["apple"])
        #expect(now.text("event_count") == "5")
        let then = try await past.get(past.ada.userID + "?as_of=3", as: role)
        #expect(then.providers == ["apple", "google"])
        #expect(then.json["as_of"]?.members?["position"]?.string == "3")
        #expect(then.json["links"]?.array?.count == 2)
        #expect(then.json["sessions"]?.array?.count == 1)
        let time = try #require(then.json["as_of"]?.members?["recorded_at"]?.string)
        let byTime = try await past.get(past.ada.userID + "?as_of=" + time, as: role)
        #expect(byTime.providers == ["apple", "google"])
        let early = try await past.get(past.bob.userID + "?as_of=4", as: role)
        #expect(early.text("status") == "unopened")
        #expect(past.lines.map(\.action) == Array(repeating: "account.read", count: 4))
        #expect(past.lines.prefix(3).allSatisfy { $0.account?.description == past.ada.userID })
        #expect(past.lines.allSatisfy { !$0.isDisclosed })
    }

    @Test func `the account shows holds, merges and factors, personal data with a reason`()
        async throws
    {
        let past = try await Past()
        let admin = try past.service.audit.key(.admin)
        let held = try await past.service.send(
            "POST", "/v1/accounts/\(past.ada.userID)/holds", token: admin,
            headers: [("Ledger-Reason", "court order 9")])
        let hold = try #require(held.text("hold"))
        let set = try #require(past.service.ledger.recordings().last?.recorded)
        let closed = try await past.get(past.ada.userID)
        #expect(!closed.body.contains("ada@x.example") && !closed.body.contains("court order"))
        let shown = closed.json["holds"]?.array?.first?.members
        #expect(shown?["hold"]?.string == hold && shown?["event_id"]?.string == "\(set.id)")
        #expect(shown?["set_at"]?.string == set.recordedAt.description)
        #expect(closed.json["merges"] == .array([]) && closed.json["factors"] == .array([]))
        let query = past.ada.userID + "?disclose=true"
        #expect(try await past.get(query, reason: "ticket 7").summary == "403 FORBIDDEN")
        #expect(try await past.get(query, as: .support).summary == "400 INVALID_REQUEST")
        let early = try await past.get(query + "&as_of=2", as: .support, reason: "ticket 7")
        #expect(early.summary == "400 INVALID_REQUEST")
        let open = try await past.get(query, as: .support, reason: "ticket 7")
        let link = try #require(open.json["links"]?.array?.first?.members)
        #expect(link["email"]?.string == "ada@x.example", "\(open.body)")
        #expect(link["email_verified"] != nil)
        #expect(open.json["holds"]?.array?.first?.members?["reason"]?.string == "court order 9")
        let line = try #require(past.lines.last)
        #expect(line.action == "account.read" && line.isDisclosed && line.reason == "ticket 7")
        let unknown = try await past.get(
            "\(AccountID(bits: 7))?disclose=true", as: .support, reason: "ticket 8")
        #expect(unknown.summary == "404 ACCOUNT_NOT_FOUND")
        #expect(past.lines.last?.isDisclosed == true)
    }

    @Test func `pages of a history continue where the last one ended, and state what they prove`()
        async throws
    {
        let past = try await Past()
        var positions: [String] = []
        var after = ""
        while true {
            let page = try await past.get(past.ada.userID + "/history?limit=2" + after)
            #expect(page.summary == "200 OK", "\(page.body)")
            let events = page.json["events"]?.array ?? []
            positions += events.compactMap { $0.members?["position"]?.string }
            for event in events {
                let entry = try #require(event.members?["entry_base64"]?.string)
                let leaf = SHA256.leafHash(try #require(Base64.decode(entry)))
                #expect(event.members?["leaf"]?.string == Base64URL.encode(leaf))
                #expect(event.members?["disclosures"] == nil)
            }
            let proved = try #require(page.json["completeness"]?.members)
            #expect(proved["chained"] == .bool(true))
            guard page.json["more"] == .bool(true) else {
                #expect(proved["complete"] == .bool(true))
                #expect(proved["events"]?.string == "5")
                #expect(proved["through_seq"]?.string == "4")
                #expect(proved["rests_on"]?.string == "log")
                // The last page has seq 4 alone, and proves no more.
                #expect(
                    proved["statement"]?.string?.hasPrefix("seq 4 to 4, each naming") == true,
                    "\(page.body)")
                break
            }
            #expect(proved["rests_on"] == .null)
            #expect(proved["complete"] == .bool(false))
            after = "&after=" + (try #require(page.text("next")))
        }
        #expect(positions == ["0", "1", "2", "3", "4"])
    }

    @Test(arguments: [
        ("", "Exactly 5 events touch the account up to position 7: seq 0 to 4, each naming"),
        ("?as_of=0", "Exactly 1 events touch the account up to position 0: seq 0 to 0"),
        ("?after=3", "seq 4 to 4, each naming the one before it, and no further event"),
        ("?after=1&as_of=3", "seq 2 to 3, each naming the one before it, and no further event"),
        ("?after=1&limit=1", "seq 2 to 2, each naming the one before it; more may follow"),
        ("?after=4", "No further event touches the account up to position 7"),
    ])
    func `a page states exactly the checks`(
        query: String, statement: String
    ) async throws {
        let past = try await Past()
        let page = try await past.get(past.ada.userID + "/history" + query)
        let said = page.json["completeness"]?.members?["statement"]?.string
        #expect(said?.hasPrefix(statement) == true, "\(page.body)")
        let isWhole = said?.hasPrefix("Exactly") == true
        #expect(isWhole || said?.contains("seq 0") == false)
    }

    @Test(arguments: [
        ("?as_of=99", "as_of"), ("/history?as_of=99", "as_of"), ("/diff?from=99", "from"),
        ("/diff?from=1&to=99", "to"), ("/diff?from=2&to=1", "from"),
    ])
    func `a position beyond the log is reported by its parameter`(
        rest: String, parameter: String
    ) async throws {
        let past = try await Past()
        let answer = try await past.get(past.ada.userID + rest)
        #expect(answer.summary == "400 INVALID_REQUEST")
        let details = answer.json["error"]?.members?["details"]?.members
        #expect(details?["parameter"]?.string == parameter, "\(answer.body)")
    }

    @Test func `what changed between two moments`() async throws {
        let past = try await Past()
        let answer = try await past.get(past.ada.userID + "/diff?from=2&to=3")
        #expect(answer.summary == "200 OK", "\(answer.body)")
        let added = answer.json["added_links"]?.array?.compactMap {
            $0.members?["provider"]?.string
        }
        #expect(added == ["google"])
        #expect(answer.json["removed_links"]?.array?.isEmpty == true)
        #expect(answer.json["events"]?.array?.count == 1)
        #expect(answer.json["next"] == nil && answer.json["more"] == .bool(false))
        let later = try await past.get(past.ada.userID + "/diff?from=3")
        #expect(later.json["removed_links"]?.array?.count == 1)
        #expect(later.json["before"]?.members?["event_count"]?.string == "4")
        #expect(later.json["after"]?.members?["event_count"]?.string == "5")
        #expect(past.lines.map(\.action) == ["account.diff", "account.diff"])
    }

    @Test func `personal data requires support and a reason, and is recorded`() async throws {
        let past = try await Past()
        let path = past.ada.userID + "/history?disclose=true"
        #expect(try await past.get(path).summary == "403 FORBIDDEN")
        #expect(past.lines.last?.outcome == "refused")
        #expect(try await past.get(path, as: .support).summary == "400 INVALID_REQUEST")
        let shown = try await past.get(path, as: .support, reason: "ticket 7")
        #expect(shown.summary == "200 OK")
        #expect(shown.body.contains("ada@x.example"))
        #expect(past.lines.last?.isDisclosed == true)
        #expect(past.lines.last?.reason == "ticket 7")
        let closed = try await past.get(past.ada.userID + "/history", as: .support, reason: "x")
        #expect(!closed.body.contains("ada@x.example"))
        #expect(past.lines.last?.isDisclosed == false)
        past.service.audit.access.failRecords(with: .unavailable)
        let unrecorded = try await past.get(path, as: .support, reason: "ticket 7")
        #expect(unrecorded.summary == "503 UNAVAILABLE")
        #expect(!unrecorded.body.contains("ada@x.example"))
    }

    @Test(arguments: [
        ("?as_of=9", "400 INVALID_REQUEST"), ("?as_of=-1", "400 INVALID_REQUEST"),
        ("?as_of=yesterday", "400 INVALID_REQUEST"), ("?as_of=", "400 INVALID_REQUEST"),
        ("?as_of=1&as_of=2", "400 INVALID_REQUEST"), ("?disclose=true", "403 FORBIDDEN"),
        ("/history?limit=0", "400 INVALID_REQUEST"), ("/history?limit=1001", "400 INVALID_REQUEST"),
        ("/history?after=x", "400 INVALID_REQUEST"), ("/history?from=1", "400 INVALID_REQUEST"),
        ("/diff", "400 INVALID_REQUEST"), ("/diff?from=3&to=2", "400 INVALID_REQUEST"),
        ("/diff?from=2026-13-01T00:00:00Z", "400 INVALID_REQUEST"), ("/nothing", "404 NOT_FOUND"),
    ])
    func `an invalid query is refused`(
        rest: String, summary: String
    ) async throws {
        let past = try await Past()
        let answer = try await past.get(past.ada.userID + rest)
        #expect(answer.summary == summary, "\(answer.body)")
    }

    @Test func `an unknown account is 404, and an unauthorised caller learns nothing`() async throws
    {
        let past = try await Past()
        for path in ["", "/history", "/diff?from=1"] {
            let unknown = AccountID(bits: 7).description
            #expect(try await past.get(unknown + path).summary == "404 ACCOUNT_NOT_FOUND")
            #expect(past.lines.last?.account == AccountID(bits: 7))
            #expect(try await past.get("x" + path).summary == "404 ACCOUNT_NOT_FOUND")
            let holder = try await past.service.send(
                "GET", "/v1/accounts/\(past.ada.userID)\(path)", token: past.ada.accessToken)
            #expect(holder.summary == "401 INVALID_API_KEY")
        }
    }
}
