import Cryptography
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

/// Authentication by API keys, and the records in the access log.
@Suite(.overBothTransports) struct PrincipalTests {
    private static let path = "/v1/access-log"

    private func expectUnknown(_ answer: Answer, _ challenge: String) {
        #expect(answer.summary == "401 INVALID_API_KEY")
        #expect(answer["WWW-Authenticate"] == challenge)
    }

    @Test func `a key of the role is permitted, and the access is recorded`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path + "?limit=5&from=0", token: key,
            headers: [("Ledger-Reason", "yearly audit")])
        #expect(answer.summary == "200 OK")
        let lines = service.audit.access.accesses()
        #expect(lines.count == 1)
        #expect(lines.first?.action == "access_log.list")
        #expect(lines.first?.outcome == "allowed")
        #expect(lines.first?.details == #"{"from":"0","limit":"5"}"#)
        #expect(lines.first?.reason == "yearly audit")
        #expect(lines.first?.isDisclosed == false)
        #expect(lines.first?.role == "auditor")
        #expect(lines.first?.request?.description == answer["X-Request-Id"])
        let shown = try #require(answer.json["accesses"]?.array?.first?.members)
        #expect(shown["principal"]?.string == lines.first?.principal)
        #expect(shown["details"]?.members?["limit"]?.string == "5")
        #expect(answer.text("next") == "0")
        #expect(!answer.body.contains(key))
    }

    @Test func `newest first, the access log begins with the last access`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        for _ in 0..<3 { _ = try await service.send("GET", Self.path, token: key) }
        let first = try await service.send(
            "GET", Self.path + "?order=newest&limit=2", token: key)
        func positions(_ answer: Answer) -> [String?] {
            (answer.json["accesses"]?.array ?? []).map { $0.members?["position"]?.string }
        }
        // The request itself is recorded before it is answered.
        #expect(positions(first) == ["3", "2"])
        let next = try #require(first.text("next"))
        let rest = try await service.send(
            "GET", Self.path + "?order=newest&before=\(next)", token: key)
        #expect(positions(rest) == ["1", "0"] && rest.json["more"] == .bool(false))
    }

    @Test func `an invalid key is 401, and nothing is recorded`() async throws {
        let service = try TestService { $0.tenants = [.default, tenant("acme")] }
        expectUnknown(try await service.send("GET", Self.path), "Bearer")
        expectUnknown(
            try await service.send("GET", Self.path, headers: [("Authorization", "Basic x")]),
            "Bearer")
        let good = try service.audit.key(.auditor)
        let other = try service.audit.key(.auditor)
        let unknown = APIKey(id: APIKeyID(bits: 7)).text
        let mixed = String(good.prefix(27) + other.suffix(43))
        let person = try await service.signIn("google", "ada")
        for token in [
            "alk_", good + "A", String(good.dropLast()), unknown, mixed, person.accessToken,
        ] {
            expectUnknown(
                try await service.send("GET", Self.path, token: token),
                "Bearer error=\"invalid_token\"")
        }
        expectUnknown(
            try await service.send(
                "GET", Self.path, token: good, headers: [("Authorization", "Bearer \(good)")]),
            "Bearer error=\"invalid_token\"")
        expectUnknown(
            try await service.send("GET", "/t/acme" + Self.path, token: good),
            "Bearer error=\"invalid_token\"")
        #expect(service.audit.access.accesses().isEmpty)
        let account = try await service.account(good)
        #expect(account.summary == "401 INVALID_ACCESS_TOKEN")
    }

    @Test func `a key is valid until it expires or is revoked`() async throws {
        let service = try TestService()
        let short = try service.audit.key(
            .auditor, expiresAt: service.clock.now.adding(seconds: 10))
        let long = try service.audit.key(.auditor)
        service.clock.advance(seconds: 9)
        #expect(try await service.send("GET", Self.path, token: short).status == 200)
        service.clock.advance(seconds: 1)
        expectUnknown(
            try await service.send("GET", Self.path, token: short),
            "Bearer error=\"invalid_token\"")
        #expect(try await service.send("GET", Self.path, token: long).status == 200)
        try service.audit.revoke(long, role: .auditor)
        expectUnknown(
            try await service.send("GET", Self.path, token: long),
            "Bearer error=\"invalid_token\"")
    }

    @Test func `another role is refused, and that is recorded`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.support)
        let answer = try await service.send("GET", Self.path + "?bogus=1", token: key)
        #expect(answer.summary == "403 FORBIDDEN")
        let lines = service.audit.access.accesses()
        #expect(lines.map(\.outcome) == ["refused"])
        #expect(lines.map(\.role) == ["support"])
        #expect(lines.map(\.details) == ["{}"])
    }

    @Test(arguments: [LedgerFault.unavailable, .overloaded, .internalFailure])
    func `nothing is shown that cannot be recorded`(fault: LedgerFault) async throws {
        let service = try TestService()
        let allowed = try service.audit.key(.auditor)
        let refused = try service.audit.key(.support)
        service.audit.access.failRecords(with: fault)
        for key in [allowed, refused] {
            let answer = try await service.send("GET", Self.path, token: key)
            #expect(answer.summary == "503 UNAVAILABLE")
            #expect(answer["Retry-After"] != nil)
        }
    }

    @Test(arguments: [
        "before=1", "order=newest&after=1", "order=newest&before=x", "order=last",
        "after=-1", "after=x", "after=", "after=1&after=2", "from=yesterday",
        "to=2026-13-01T00:00:00Z",
        "limit=0", "limit=1001", "limit=1e3", "limit=%20", "principal=root", "principal=api_key:1",
        "bogus=1", "AFTER=1", "disclose=true", "after=99999999999999999999", "=1",
    ])
    func `a hostile parameter is 400 and shows nothing`(query: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send("GET", "\(Self.path)?\(query)", token: key)
        #expect(answer.summary == "400 INVALID_REQUEST", "\(answer.body)")
        #expect(service.audit.access.accesses().isEmpty)
    }

    @Test(arguments: [
        [""], [String(repeating: "a", count: 256)], ["a\tb"], ["é"], ["one", "two"],
    ])
    func `a malformed reason is 400`(reasons: [String]) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: reasons.map { ("Ledger-Reason", $0) })
        #expect(answer.summary == "400 INVALID_REQUEST")
        #expect(
            answer.json["error"]?.members?["details"]?.members?["header"]?.string == "Ledger-Reason"
        )
    }

    @Test func `a key has one spelling and hides its secret`() throws {
        let key = APIKey(id: APIKeyID(bits: .max))
        #expect(key.text.utf8.count == 70)
        #expect(APIKey(key.text)?.text == key.text)
        #expect(APIKey(key.text)?.secretDigest == key.secretDigest)
        #expect(APIKey(key.text.uppercased()) == nil)
        let digest = try #require(key.secretDigest)
        #expect(!key.text.contains(digest.description))
        // The last character carries four bits: every other spelling of them is refused.
        let spellings = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".filter {
            APIKey(key.text.dropLast() + String($0))?.secretDigest == digest
        }
        #expect(spellings.count == 1)
    }
}
