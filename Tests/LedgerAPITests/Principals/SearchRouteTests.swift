import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// Permissions of searches, and their records in the access log.
@Suite(.overBothTransports) struct SearchRouteTests {
    /// Ada and Bob, and a principal.
    private struct Fixture {
        let service: TestService
        let ada: Person

        init() async throws {
            service = try TestService()
            ada = try await service.signIn(
                "google", "ada", claims: ["email": "\"ada@example.com\""])
            _ = try await service.signIn("apple", "bob", claims: ["email": "\"bob@example.com\""])
        }

        func search(
            _ query: String, as role: Role, reason: String? = nil
        ) async throws -> Answer {
            try await service.send(
                "GET", "/v1/search\(query)", token: try service.audit.key(role),
                headers: reason.map { [("Ledger-Reason", $0)] } ?? [])
        }

        func search(body: String, as role: Role, reason: String? = nil) async throws -> Answer {
            try await service.send(
                "POST", "/v1/search", body, token: try service.audit.key(role),
                headers: reason.map { [("Ledger-Reason", $0)] } ?? [])
        }

        func accounts(_ answer: Answer) -> [String] {
            (answer.json["accounts"]?.array ?? []).compactMap { account in
                guard let id = account.members?["id"]?.string else { return nil }
                let matches = account.members?["matched_by"]?.array?.compactMap(\.string) ?? []
                return "\(id == ada.userID ? "ada" : "other") \(matches.joined(separator: "+"))"
            }
        }

        var lines: [LoggedAccess] { service.audit.access.accesses() }
    }

    @Test(arguments: [
        (Role.auditor, "case 1" as String?, 403), (.auditor, nil, 403), (.support, nil, 400),
        (.support, "case 1", 200), (.admin, nil, 400), (.admin, "case 1", 200),
    ])
    func `personal data is searched for with a reason, by those who may see it`(
        role: Role, reason: String?, status: Int
    ) async throws {
        for term in ["ada@example.com", "%20ADA@example.COM", "ada"] {
            let fixture = try await Fixture()
            let answer = try await fixture.search("?q=\(term)", as: role, reason: reason)
            #expect(answer.status == status, "\(answer.body)")
            let how = term.contains("@") ? "email" : "provider_id"
            if status == 200 { #expect(fixture.accounts(answer) == ["ada \(how)"]) }
            // A malformed request shows nothing and is not recorded.
            #expect(fixture.lines.count == (status == 400 ? 0 : 1))
            #expect(fixture.lines.allSatisfy { !$0.isDisclosed && $0.action == "search" })
            #expect(
                fixture.lines.first?.outcome == (status == 403 ? "refused" : "allowed")
                    || status == 400)
            let told = fixture.lines.map { $0.details }.joined()
            #expect(status == 400 || told.contains("\"kind\":\"\(how)\""))
            #expect(status != 200 || told.contains(fixture.ada.userID))
            for text in [told, answer.body] {
                #expect(!text.lowercased().contains("ada@example"), "\(text)")
                #expect(!text.contains("\"ada\""))
            }
        }
    }

    @Test(arguments: [
        (Role.support, "case 1" as String?, 200), (.support, nil, 400), (.auditor, "case 1", 403),
    ])
    func `a phone number finds its account, and is recorded nowhere`(
        role: Role, reason: String?, status: Int
    ) async throws {
        let service = try TestService { $0.codes = [.phone] }
        let sent = try await service.send(
            "POST", "/v1/auth/codes/phone", "{\"address\":\"+4915123456789\"}")
        let challenge = try #require(sent.text("challenge_id"))
        let code = try #require(service.challenges.sent.last).message.code
        let ada = try Person(
            await service.send(
                "POST", "/v1/auth/sign-in/phone",
                "{\"challenge_id\":\"\(challenge)\",\"code\":\"\(code)\"}"))
        let key = try service.audit.key(role)
        let headers: [(name: String, value: String)] =
            reason.map { [(name: "Ledger-Reason", value: $0)] } ?? []
        let typed = "+49 (151) 234-56789"
        let requests: [(method: String, path: String, body: String?)] = [
            ("GET", "/v1/search?q=%2B4915123456789", nil),
            ("POST", "/v1/search", "{\"query\":\"\(typed)\"}"),
        ]
        for (method, path, body) in requests {
            let answer = try await service.send(method, path, body, token: key, headers: headers)
            #expect(answer.status == status, "\(answer.body)")
            let isFound = answer.body.contains(ada.userID)
            #expect(isFound == (status == 200))
            if isFound { #expect(answer.body.contains("[\"phone\"]")) }
            #expect(!answer.body.contains("15123456789") && !answer.body.contains("151) 23"))
        }
        let lines = service.audit.access.accesses()
        #expect(lines.count == (status == 400 ? 0 : 2))
        for line in lines {
            #expect(line.details.contains("\"kind\":\"phone\""))
            #expect(!line.details.contains("15123456789") && !line.details.contains("151) 23"))
        }
    }

    @Test(arguments: Role.allCases)
    func `a term in the body gives the same answer, and is not in the access log`(
        role: Role
    ) async throws {
        let fixture = try await Fixture()
        for (body, query) in [
            (#"{"query":"ada@example.com"}"#, "?q=ada@example.com"),
            ("{\"query\":\"\(fixture.ada.userID)\"}", "?q=\(fixture.ada.userID)"),
        ] {
            for reason in ["case 1", nil] {
                let posted = try await fixture.search(body: body, as: role, reason: reason)
                let got = try await fixture.search(query, as: role, reason: reason)
                #expect(posted.summary == got.summary)
                if got.status == 200 { #expect(posted.body == got.body) }
            }
        }
        #expect(fixture.lines.allSatisfy { !$0.details.contains("example") })
        for body in [
            #"{"query":""}"#, #"{}"#, #"{"query":1}"#, #"{"query":"\u0000"}"#, "",
            "{\"query\":\"\(String(repeating: "x", count: 321))\"}",
        ] {
            let refused = try await fixture.search(body: body, as: .admin, reason: "case 1")
            #expect(refused.summary == "400 INVALID_REQUEST", "\(body)")
        }
    }

    @Test(arguments: Role.allCases)
    func `every role may search for an id`(role: Role) async throws {
        let fixture = try await Fixture()
        let linked = try #require(
            fixture.service.ledger.recordings().first { recording in
                if case .providerLinked = recording.recorded.event { return true }
                return false
            }?.recorded)
        let request = try #require(linked.request)
        for (term, expected) in [
            (fixture.ada.userID, ["ada account_id"]),
            (fixture.ada.userID.uppercased(), ["ada account_id"]),
            ("\(linked.id)", ["ada event_id"]), ("\(request)", ["ada request_id"]),
            ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", []),
        ] {
            let answer = try await fixture.search("?q=\(term)", as: role)
            #expect(answer.status == 200, "\(answer.body)")
            #expect(fixture.accounts(answer) == expected)
            #expect(answer.json["more"] == .bool(false))
            #expect(!answer.body.contains("example.com"))
        }
        #expect(fixture.lines.map(\.action) == Array(repeating: "search", count: 5))
        #expect(fixture.lines.last?.details == #"{"found":"0","kind":"id"}"#)
    }

    @Test func `a subject that looks like an id is compared with a reason only`() async throws {
        let service = try TestService()
        let subject = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
        let person = try await service.signIn("google", subject)
        let key = try service.audit.key(.support)
        let path = "/v1/search?q=\(subject)"
        let without = try await service.send("GET", path, token: key)
        #expect(without.status == 200 && !without.body.contains(person.userID))
        let with = try await service.send(
            "GET", path, token: key, headers: [("Ledger-Reason", "case 1")])
        #expect(with.body.contains(person.userID))
        #expect(!with.body.contains(subject))
        let auditor = try await service.send(
            "GET", path, token: try service.audit.key(.auditor),
            headers: [("Ledger-Reason", "case 1")])
        #expect(auditor.status == 200 && !auditor.body.contains(person.userID))
        #expect(service.audit.access.accesses().allSatisfy { !$0.details.contains(subject) })
    }

    @Test func `the name that a client gave its request finds its events`() async throws {
        let service = try TestService()
        let answer = try await service.postSignIn(
            "google", service.idToken("google", "ada"), headers: [("X-Request-Id", "r-17")])
        let person = try Person(answer)
        let found = try await service.send(
            "GET", "/v1/search?q=r-17", token: try service.audit.key(.support),
            headers: [("Ledger-Reason", "case 1")])
        #expect(found.body.contains(person.userID) && found.body.contains("request_id"))
    }

    @Test func `a request id that several people sent reports the number of its accounts`()
        async throws
    {
        let service = try TestService()
        let id = "01234567-89ab-4cde-8f01-23456789abcd"
        for subject in ["ada", "bob"] {
            _ = try await service.postSignIn(
                "google", service.idToken("google", subject), headers: [("X-Request-Id", id)])
        }
        let key = try service.audit.key(.support)
        let found = try await service.send("GET", "/v1/search?q=\(id)", token: key)
        #expect(found.json["accounts"]?.array?.count == 2)
        #expect(found.json["request_accounts"] == .number(2), "\(found.body)")
        let account = try #require(found.json["accounts"]?.array?.first?.members?["id"]?.string)
        let other = try await service.send("GET", "/v1/search?q=\(account)", token: key)
        #expect(other.status == 200 && other.json["request_accounts"] == nil, "\(other.body)")
    }

    @Test(arguments: [
        "", "?q=", "?q=%20", "?q=a&q=b", "?q=a%7F", "?q=a%0Ab", "?q=a&limit=1", "?p=a",
        "?q=\(String(repeating: "a", count: 321))",
    ])
    func `an invalid term is refused, and not repeated`(query: String) async throws {
        let fixture = try await Fixture()
        let answer = try await fixture.search(query, as: .admin, reason: "case 1")
        #expect(answer.status == 400, "\(answer.body)")
        #expect(!answer.body.contains("aaa") && fixture.lines.isEmpty)
    }

    @Test func `the term is in no observation`() async throws {
        let fixture = try await Fixture()
        _ = try await fixture.search("?q=ada@example.com", as: .support, reason: "case 1")
        let seen = fixture.service.observer.observations
        #expect(seen.last?.route == "/v1/search")
        #expect(!"\(seen)".contains("ada@"))
    }
}
