import Cryptography
import Encodings
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct EventRoutesTests {
    /// Two people, one of whom links, and a link that is refused.
    private func story() async throws -> TestService {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        _ = try await service.link("apple", subject: "ada-a", by: ada)
        let bob = try await service.signIn("google", "bob")
        _ = try await service.link("apple", subject: "ada-a", by: bob)
        return service
    }

    private func events(_ answer: Answer) -> [JSONMembers] {
        (answer.json["events"]?.array ?? []).compactMap(\.members)
    }

    @Test func `the log is listed in order with the exact entries`() async throws {
        let service = try await story()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send("GET", "/v1/events", token: key)
        let log = service.ledger.recordings()
        #expect(answer.status == 200)
        let events = events(answer)
        #expect(events.count == log.count)
        #expect(answer.text("next") == "\(log.count - 1)")
        #expect(answer.json["more"] == .bool(false))
        for (event, recording) in zip(events, log) {
            #expect(event["position"]?.string == recording.recorded.position.description)
            #expect(event["event_id"]?.string == recording.recorded.id.description)
            #expect(
                event["entry_base64"]?.string.flatMap { Base64.decode($0) } == recording.entry)
            #expect(event["entry"] == JSONValue(parsing: recording.entry))
            #expect(event["leaf"]?.string == recording.leaf.description)
            #expect(event["disclosures"] == nil && event["damage"] == nil)
        }
        #expect(!answer.body.contains("ada@example.com"))
    }

    @Test func `pages and filters are those of the query`() async throws {
        let service = try await story()
        let key = try service.audit.key(.support)
        let log = service.ledger.recordings()
        var seen: [String] = []
        var after = ""
        for _ in 0..<log.count {
            let page = try await service.send("GET", "/v1/events?limit=2\(after)", token: key)
            seen += events(page).compactMap { $0["event_id"]?.string }
            guard page.json["more"] == .bool(true) else { break }
            after = "&after=\(try #require(page.text("next")))"
        }
        #expect(seen == log.map(\.recorded.id.description))
        let conflict = try #require(log.last { $0.recorded.event.name == .conflictRejected })
        let holder = try #require(conflict.recorded.accounts.last?.id)
        for (filter, expected) in [
            ("outcome=refused", log.filter { $0.recorded.event.fact.outcome == .refused }),
            ("type=SignedIn", log.filter { $0.recorded.event.name == .signedIn }),
            ("provider=apple&type=ProviderLinked&outcome=accepted", [log[3]]),
            (
                "account=\(holder)",
                log.filter { $0.recorded.accounts.contains { $0.id == holder } }
            ),
            (
                "actor=account:\(holder)",
                log.filter { $0.recorded.actor.columnText == "account:\(holder)" }
            ),
            (
                "identity=\(try #require(conflict.recorded.event.fact.attributes.identity))",
                [log[3], conflict]
            ),
            ("request=\(try #require(conflict.recorded.request))", [conflict]),
        ] {
            let page = try await service.send("GET", "/v1/events?\(filter)", token: key)
            #expect(
                events(page).compactMap { $0["event_id"]?.string }
                    == expected.map(\.recorded.id.description), "\(filter)")
            #expect(!expected.isEmpty)
        }
        #expect(service.audit.access.accesses().contains { $0.account == holder })
    }

    @Test func `newest first, pages end at the first event, whatever is appended meanwhile`()
        async throws
    {
        let service = try await story()
        let key = try service.audit.key(.support)
        let log = service.ledger.recordings()
        var seen: [String] = []
        var before = ""
        for _ in 0..<log.count {
            let page = try await service.send(
                "GET", "/v1/events?order=newest&limit=2\(before)", token: key)
            seen += events(page).compactMap { $0["event_id"]?.string }
            guard page.json["more"] == .bool(true) else { break }
            before = "&before=\(try #require(page.text("next")))"
            _ = try await service.signIn("google", "ada")
        }
        #expect(seen == log.reversed().map(\.recorded.id.description))
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.details.contains("\"order\":\"newest\""))
    }

    @Test func `personal data is shown to support with a reason, and that is recorded`()
        async throws
    {
        let service = try await story()
        let auditor = try service.audit.key(.auditor)
        let support = try service.audit.key(.support)
        let reason = [("Ledger-Reason", "ticket 7")]
        let signedIn = try #require(
            service.ledger.recordings().first { $0.disclosed.contains { $0.name == .email } })
        let ada = try #require(signedIn.recorded.accounts.first?.id)
        for path in ["/v1/events?account=\(ada)", "/v1/events/\(signedIn.recorded.id)?"] {
            let refused = try await service.send(
                "GET", path + "&disclose=true", token: auditor, headers: reason)
            #expect(refused.summary == "403 FORBIDDEN")
            var line = try #require(service.audit.access.accesses().last)
            #expect(line.outcome == "refused" && !line.isDisclosed && line.reason == "ticket 7")
            let unexplained = try await service.send(
                "GET", path + "&disclose=true", token: support)
            #expect(unexplained.summary == "400 INVALID_REQUEST")
            let shown = try await service.send(
                "GET", path + "&disclose=true", token: support, headers: reason)
            #expect(shown.status == 200)
            #expect(shown.body.contains("ada@example.com"))
            line = try #require(service.audit.access.accesses().last)
            #expect(line.outcome == "allowed" && line.isDisclosed && line.reason == "ticket 7")
            let hidden = try await service.send("GET", path, token: support, headers: reason)
            #expect(hidden.status == 200)
            #expect(!hidden.body.contains("ada@example.com"))
            line = try #require(service.audit.access.accesses().last)
            #expect(!line.isDisclosed)
        }
    }

    @Test func `a query for one account shows only disclosures about that account`() async throws {
        let service = try await story()
        let support = try service.audit.key(.support)
        let conflict = try #require(service.ledger.recordings().last)
        let ids = conflict.recorded.accounts.map(\.id)
        try #require(ids.count == 2)
        for (account, isCaller) in zip(ids, [true, false]) {
            let page = try await service.send(
                "GET", "/v1/events?account=\(account)&type=ConflictRejected&disclose=true",
                token: support, headers: [("Ledger-Reason", "ticket 7")])
            let event = try #require(events(page).first)
            let disclosed = event["disclosures"]?.members
            #expect((disclosed?["client_ip"] != nil) == isCaller, "\(page.body)")
            let line = try #require(service.audit.access.accesses().last)
            #expect(line.account == account && line.isDisclosed)
        }
    }

    @Test func `only an administrator sees the personal data of all accounts`() async throws {
        let service = try await story()
        let path = "/v1/events?type=ConflictRejected&disclose=true"
        let refused = try await service.send(
            "GET", path, token: try service.audit.key(.support),
            headers: [("Ledger-Reason", "ticket 7")])
        #expect(refused.summary == "403 FORBIDDEN")
        #expect(refused.body.contains("account="), "it says what to do: \(refused.body)")
        #expect(!refused.body.contains("127.0.0") && !refused.body.contains("client_ip"))
        let written = try #require(service.audit.access.accesses().last)
        #expect(written.outcome == "refused" && !written.isDisclosed)
        let all = try await service.send(
            "GET", path, token: try service.audit.key(.admin),
            headers: [("Ledger-Reason", "ticket 7")])
        #expect(events(all).first?["disclosures"]?.members?["client_ip"] != nil)
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.account == nil)
        #expect(line.details == #"{"disclose":"true","type":"ConflictRejected"}"#)
    }

    @Test func `an event comes with its proof once it is sealed`() async throws {
        let service = try await story()
        let key = try service.audit.key(.auditor)
        let recording = service.ledger.recordings()[1]
        let path = "/v1/events/\(recording.recorded.id)"
        let early = try await service.send("GET", path, token: key)
        #expect(early.status == 200)
        #expect(early.json["proof"] == .null)
        #expect(early.text("no_proof") == "NOT_SEALED_YET")
        service.audit.proofs.seal(at: service.clock.now)
        let late = try await service.send("GET", path, token: key)
        let proof = try #require(late.json["proof"]?.members)
        #expect(proof["position"]?.string == "1")
        #expect(proof["leaf_hash"]?.string == Base64.encode(recording.leaf.bytes))
        #expect(late.text("leaf") == recording.leaf.description)
        #expect(late.text("no_proof") == nil)
        service.audit.proofs.fail(with: .internalFailure)
        let damaged = try await service.send("GET", path, token: key)
        #expect(damaged.status == 200)
        #expect(damaged.text("no_proof") == "LOG_DAMAGED")
        #expect(service.audit.access.accesses().last?.event == recording.recorded.id)
        for id in ["0190a1b2-c3d4-7000-8000-000000000001", "x", "%E2%80%A8"] {
            let unknown = try await service.send("GET", "/v1/events/\(id)", token: key)
            #expect(unknown.summary == "404 EVENT_NOT_FOUND")
        }
    }

    @Test(arguments: [
        "type=Nonsense", "type=signedIn", "account=1", "provider=Google", "provider=%22",
        "outcome=maybe", "after=-1", "from=now", "to=2026-02-30T00:00:00Z", "limit=0",
        "disclose=yes", "type=SignedIn&type=SignedOut", "order=desc", "order=newest&after=1",
        "before=1", "order=oldest&before=1", "order=newest&before=-1", "actor=ada",
        "actor=account:1",
        "actor=system:1", "actor=operator", "identity=1", "request=r-1", "position=1", "account=",
        "provider=\(String(repeating: "a", count: 64))",
    ])
    func `a hostile filter is 400 and shows nothing`(query: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let answer = try await service.send("GET", "/v1/events?\(query)", token: key)
        #expect(answer.summary == "400 INVALID_REQUEST", "\(answer.body)")
        #expect(service.audit.access.accesses().isEmpty)
    }
}
