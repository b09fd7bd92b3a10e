import JSON
import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerAPI

/// The reasons that principals state, in any script.
@Suite(.overBothTransports) struct ReasonTests {
    private static let path = "/v1/events?limit=1"

    @Test(arguments: [
        ("case 1", "case 1"), ("100% sure", "100% sure"),
        ("UTF-8''F%C3%A4lle%20f%C3%BCr%20Ada", "Fälle für Ada"),
        ("utf-8''%E7%A5%A8%E5%8F%B7", "票号"), ("UTF-8''abc", "abc"),
        ("UTF-8''%3Cb%3E%22", "<b>\""), ("UTF-8''%F0%9F%98%80", "😀"),
    ]) func `a reason is recorded and shown as the text that it is`(
        value: String, reason: String
    ) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: [("Ledger-Reason", value)])
        #expect(answer.status == 200, "\(answer.body)")
        #expect(service.audit.access.accesses().last?.reason == reason)
        let shown = try await service.send("GET", "/v1/access-log", token: key)
        #expect(
            shown.json["accesses"]?.array?.first?.members?["reason"]?.string == reason)
    }

    @Test(arguments: [
        "UTF-8''", "UTF-8''%", "UTF-8''%4", "UTF-8''%GG", "UTF-8''%FF", "UTF-8''%C3",
        "UTF-8''a b", "UTF-8''a\"b", "UTF-8'en'abc", "UTF-8''%00", "UTF-8''a%0Ab", "UTF-8''%7F",
        "UTF-8''%C2%85", "UTF-8''%E2%80%AE", "UTF-8''%E2%81%A6x", "UTF-8''%E2%80%8F",
        "UTF-8''%20", "UTF-8''%20x", "UTF-8''x%C2%A0", "UTF-8''%E2%80%8B", "UTF-8''%EF%BB%BF",
        "UTF-8''%E2%80%A8", "UTF-8''%ED%A0%80", "UTF-8''%EE%80%80", "UTF-8''%EF%BF%BF",
        "UTF-8''" + String(repeating: "a", count: 256),
        "UTF-8''" + String(repeating: "%F0%9F%98%80", count: 256),
        String(repeating: "a", count: 256),
    ]) func `a malformed, empty, long or invisible reason is refused`(value: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: [("Ledger-Reason", value)])
        let isEncoded = value.hasPrefix("UTF-8''")
        #expect((answer.summary == "400 INVALID_REQUEST") == (isEncoded || value.count > 255))
        #expect(answer.status != 200 || service.audit.access.accesses().last?.reason == value)
    }

    @Test func `the longest reason has as many characters in any script`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let value = "UTF-8''" + String(repeating: "%F0%9F%98%80", count: 255)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: [("Ledger-Reason", value)])
        #expect(answer.status == 200)
        let reason = try #require(service.audit.access.accesses().last?.reason)
        #expect(reason.unicodeScalars.count == 255 && reason.utf8.count == 1_020)
    }

    @Test func `a body has the reason in place of the field, in any script`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        let key = try service.audit.key(.admin)
        let disable = "/v1/accounts/\(ada.userID)/disable"
        for (path, body) in [
            (disable + "/preview", #"{"reason":"票号 7"}"#),
            (disable, #"{"case":"T-1","reason":"票号 7"}"#),
            ("/v1/accounts/\(ada.userID)/erasure/preview", #"{"reason":"票号 7"}"#),
            ("/v1/search", #"{"query":"ada@example.com","reason":"票号 7"}"#),
        ] {
            let answer = try await service.send("POST", path, body, token: key)
            #expect(answer.status == 200, "\(path): \(answer.body)")
            #expect(service.audit.access.accesses().last?.reason == "票号 7")
        }
        // It is the text that the event discloses.
        let disclosed = service.ledger.recordings().last?.disclosed ?? []
        #expect(disclosed.contains { $0.name == .reason && $0.value == "票号 7" })
    }

    @Test func `the field and the body are the same text or one of them alone`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        let key = try service.audit.key(.admin)
        func send(_ reason: String, _ fields: [(name: String, value: String)]) async throws
            -> Answer
        {
            try await service.send(
                "POST", "/v1/accounts/\(ada.userID)/disable",
                "{\"case\":\"T-1\",\"reason\":\(reason)}", token: key, headers: fields)
        }
        let same = try await send(
            #""Fälle""#, [("Ledger-Reason", "UTF-8''F%C3%A4lle")])
        #expect(same.summary == "200 OK", "\(same.body)")
        let count = service.audit.access.accesses().count
        for (reason, fields) in [
            (#""case 1""#, [(name: "Ledger-Reason", value: "case 2")]),
            (#""case 1""#, [(name: "Ledger-Reason", value: "UTF-8''%E2%80%AE")]),
            (#""""#, []), (#"" ""#, []), ("7", []), (#""a\u202eb""#, []), (#""a\nb""#, []),
            ("\"" + String(repeating: "a", count: 256) + "\"", []),
        ] {
            let refused = try await send(reason, fields)
            #expect(refused.summary == "400 INVALID_REQUEST", "\(reason): \(refused.body)")
        }
        #expect(try await send("null", []).summary == "400 INVALID_REQUEST", "a missing reason")
        #expect(service.audit.access.accesses().count == count)
    }
}
