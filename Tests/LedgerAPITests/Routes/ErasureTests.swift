import Cryptography
import JSON
import Ledger
import LedgerTestSupport
import Testing

/// Erasures and legal holds over HTTP.
@Suite(.overBothTransports) struct ErasureTests {
    private static let reason = [(name: "Ledger-Reason", value: "case 4711")]

    @Test func `an administrator erases an account, and the reason is recorded first`()
        async throws
    {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let ada = try await service.signIn("google", "ada")
        let path = "/v1/accounts/\(ada.userID)?basis=retention"
        let answer = try await service.send("DELETE", path, token: key, headers: Self.reason)
        #expect(answer.summary == "200 OK")
        #expect(answer.text("account") == ada.userID)
        #expect(answer.json["erased_before"] == .bool(false))
        let line = try #require(service.audit.access.accesses().last)
        #expect(line.action == "account.erase" && line.reason == "case 4711")
        #expect(line.account?.description == ada.userID)
        let recording = try #require(service.ledger.recordings().last)
        guard case .accountErased(let fact) = recording.recorded.event else {
            throw Failure("no erasure is at the end of the log")
        }
        #expect(fact.basis == .retention)
        #expect(recording.recorded.actor.columnText == line.principal)
        #expect(recording.recorded.request?.description == answer["X-Request-Id"])
        #expect(recording.disclosed.isEmpty, "the administrator's address is not the account's")

        let again = try await service.send("DELETE", path, token: key, headers: Self.reason)
        #expect(again.json["erased_before"] == .bool(true))
        #expect(again.text("position") == answer.text("position"))
        #expect(try await service.account(ada.accessToken).summary == "401 INVALID_ACCESS_TOKEN")
        let back = try await service.signIn("google", "ada")
        #expect(back.isNew && back.userID != ada.userID)
    }

    @Test func `an erasure of several accounts requires the digest of its preview`() async throws {
        let story = try await MergeStory()
        let (service, ada, other) = (story.service, story.ada.userID, story.other.userID)
        let key = try service.audit.key(.admin)
        func preview(_ account: String) async throws -> Answer {
            try await service.send(
                "POST", "/v1/accounts/\(account)/erasure/preview", token: key,
                headers: Self.reason)
        }
        func erase(_ account: String, _ query: String = "") async throws -> Answer {
            try await service.send(
                "DELETE", "/v1/accounts/\(account)\(query)", token: key, headers: Self.reason)
        }
        let alone = try await preview(other)
        #expect(alone.summary == "200 OK")
        #expect(alone.json["covers"] == .array([.string(other)]))
        #expect(alone.text("survivor") == other)
        #expect(alone.json["events"] == .number(3))
        #expect(alone.json["linked_identities"] == .number(1))
        let old = try #require(alone.text("plan_digest"))
        #expect(try await story.merge(try await story.digest()).status == 200)

        let count = service.ledger.recordings().count
        let merged = try await erase(other)
        #expect(merged.summary == "409 ACCOUNT_MERGED")
        #expect(merged.body.contains(#""merged_into":"\#(ada)""#))
        for (account, query) in [
            (ada, ""), (other, "?plan_digest=\(old)"), (other, "?plan_digest=x"),
            (ada, "?plan_digest=\(old)"),
        ] {
            let refused = try await erase(account, query)
            #expect(refused.summary == "409 ERASURE_PLAN_CHANGED", "\(account) \(query)")
        }
        let both = try await preview(other)
        #expect(both.text("survivor") == ada)
        #expect(both.json["covers"] == .array([.string(other), .string(ada)]))
        let digest = try #require(both.text("plan_digest"))
        #expect(service.ledger.recordings().count == count, "nothing was erased")

        service.clock.advance(seconds: 901)
        #expect(
            try await erase(other, "?plan_digest=\(digest)").summary
                == "409 ERASURE_PLAN_CHANGED")
        let fresh = try #require(try await preview(other).text("plan_digest"))
        let erased = try await erase(other, "?plan_digest=\(fresh)")
        #expect(erased.summary == "200 OK")
        #expect(erased.json["covers"] == .array([.string(other), .string(ada)]))
        for query in ["", "?plan_digest=\(fresh)"] {
            let again = try await erase(other, query)
            #expect(again.json["erased_before"] == .bool(true))
            #expect(again.json["covers"] == .array([.string(other)]))
        }
        #expect(try await preview(ada).summary == "410 ACCOUNT_ERASED")
        #expect(service.audit.access.accesses().contains { $0.action == "account.erase_preview" })
    }

    @Test func `a hold refuses an erasure until it is lifted`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let ada = try await service.signIn("google", "ada")
        let account = "/v1/accounts/\(ada.userID)"
        let held = try await service.send(
            "POST", account + "/holds", token: key, headers: Self.reason)
        let hold = try #require(held.text("hold"))
        let refused = try await service.send("DELETE", account, token: key, headers: Self.reason)
        #expect(refused.summary == "409 LEGAL_HOLD")
        let other = try await service.send(
            "DELETE", account + "/holds/\(ada.userID)", token: key, headers: Self.reason)
        #expect(other.summary == "404 HOLD_NOT_FOUND")
        let lifted = try await service.send(
            "DELETE", account + "/holds/\(hold)", token: key, headers: Self.reason)
        #expect(lifted.summary == "200 OK" && lifted.body == "{}")
        let erased = try await service.send("DELETE", account, token: key, headers: Self.reason)
        #expect(erased.summary == "200 OK")
        let late = try await service.send(
            "POST", account + "/holds", token: key, headers: Self.reason)
        #expect(late.summary == "410 ACCOUNT_ERASED")
        let lines = service.audit.access.accesses()
        #expect(
            lines.map { "\($0.action) \($0.outcome)" } == [
                "account.hold allowed", "account.erase allowed", "account.erase refused",
                "account.lift_hold allowed", "account.lift_hold refused",
                "account.lift_hold allowed", "account.erase allowed", "account.hold allowed",
                "account.hold refused",
            ])
        // The record of the refusal has the same request id, and the reason that the caller got.
        #expect(lines[2].request?.description == refused["X-Request-Id"])
        #expect(lines[2].details == #"{"refusal":"LEGAL_HOLD"}"#)
        #expect(lines[4].details == #"{"hold":"\#(ada.userID)","refusal":"HOLD_NOT_FOUND"}"#)
        #expect(lines[2].reason == lines[1].reason && lines[2].account == lines[1].account)
    }

    @Test func `a hold under the caller's own id is set once, however often it is requested`()
        async throws
    {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let ada = try await service.signIn("google", "ada")
        let holds = "/v1/accounts/\(ada.userID)/holds"
        let hold = HoldID(at: service.clock.now, random: 7)
        let count = service.ledger.recordings().count
        for _ in 0..<3 {
            let answer = try await service.send(
                "PUT", "\(holds)/\(hold)", token: key, headers: Self.reason)
            #expect(answer.summary == "200 OK")
            #expect(answer.text("hold") == hold.description)
        }
        #expect(service.ledger.recordings().count == count + 1)
        // The maximum number: repeating an existing one still answers the same.
        for number in 0..<UInt128(SetLegalHold.holdsMax - 1) {
            let other = HoldID(at: service.clock.now, random: 100 + number)
            let answer = try await service.send(
                "PUT", "\(holds)/\(other)", token: key, headers: Self.reason)
            #expect(answer.status == 200)
        }
        let again = try await service.send(
            "PUT", "\(holds)/\(hold)", token: key, headers: Self.reason)
        #expect(again.status == 200)
        let surplus = try await service.send("POST", holds, token: key, headers: Self.reason)
        #expect(surplus.summary == "409 TOO_MANY_HOLDS")
    }

    @Test func `an id with another time than now is refused`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let ada = try await service.signIn("google", "ada")
        let now = service.clock.now
        for (hold, status) in [
            (HoldID(at: now.adding(seconds: -599), random: 1).description, 200),
            (HoldID(at: now.adding(seconds: 599), random: 1).description, 200),
            (HoldID(at: now.adding(seconds: -601), random: 1).description, 400),
            (HoldID(at: now.adding(seconds: 601), random: 1).description, 400),
            // The same time, of version 4 and of another variant.
            (HoldID(bits: HoldID(at: now, random: 1).bits ^ 3 << 76).description, 400),
            (HoldID(bits: HoldID(at: now, random: 1).bits ^ 1 << 62).description, 400),
            ("x", 400),
        ] {
            let answer = try await service.send(
                "PUT", "/v1/accounts/\(ada.userID)/holds/\(hold)", token: key,
                headers: Self.reason)
            #expect(answer.status == status, "\(hold): \(answer.body)")
        }
    }

    @Test func `no other role, and no one without a reason, changes anything`() async throws {
        let service = try TestService()
        let ada = try await service.signIn("google", "ada")
        let account = "/v1/accounts/\(ada.userID)"
        let count = service.ledger.recordings().count
        let calls = [
            ("DELETE", account), ("POST", account + "/erasure/preview"),
            ("POST", account + "/holds"),
            ("PUT", account + "/holds/\(HoldID(at: service.clock.now, random: 1))"),
            ("DELETE", account + "/holds/\(ada.userID)"),
        ]
        for (method, path) in calls {
            for role in [Role.auditor, .support] {
                let answer = try await service.send(
                    method, path, token: try service.audit.key(role), headers: Self.reason)
                #expect(answer.summary == "403 FORBIDDEN")
            }
            let admin = try service.audit.key(.admin)
            #expect(
                try await service.send(method, path, token: admin).summary == "400 INVALID_REQUEST")
            #expect(
                try await service.send(method, path, token: ada.accessToken, headers: Self.reason)
                    .summary == "401 INVALID_API_KEY")
            service.audit.access.failRecords(with: .unavailable)
            let unwritten = try await service.send(
                method, path, token: admin, headers: Self.reason)
            #expect(unwritten.summary == "503 UNAVAILABLE")
            service.audit.access.failRecords(with: nil)
        }
        #expect(service.ledger.recordings().count == count)
    }

    @Test func `an unknown account is 404, and another ground 400`() async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        for name in ["0190a1b2-c3d4-7000-8000-000000000001", "nobody"] {
            let answer = try await service.send(
                "DELETE", "/v1/accounts/\(name)", token: key, headers: Self.reason)
            #expect(answer.summary == "404 ACCOUNT_NOT_FOUND")
        }
        let ada = try await service.signIn("google", "ada")
        for query in ["basis=restored", "basis=", "basis=x", "base=retention"] {
            let answer = try await service.send(
                "DELETE", "/v1/accounts/\(ada.userID)?\(query)", token: key, headers: Self.reason)
            #expect(answer.summary == "400 INVALID_REQUEST", "\(query)")
        }
    }

    private struct Failure: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }
}
