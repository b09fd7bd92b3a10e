import HTTP
import Ledger
import LedgerTestSupport
import Testing

/// How a stream of events begins; what it says is tested over sockets.
struct EventStreamTests {
    private static let path = "/v1/events/stream"

    @Test func `a stream is announced as one, and written down with where it begins`() async throws
    {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let response = try await service.respond(
            "GET", "\(Self.path)?after=3&type=SignedIn", token: key,
            headers: [("Last-Event-ID", "7")])
        #expect(response.status == 200 && response.stream != nil && response.body.isEmpty)
        let fields = response.headers
        #expect(fields.contains { $0 == ("Content-Type", "text/event-stream") })
        #expect(fields.contains { $0 == ("Cache-Control", "no-store") })
        let access = try #require(service.audit.access.accesses().last)
        #expect(access.action == "event.stream" && access.outcome == "allowed")
        #expect(
            access.details == #"{"Last-Event-ID":"7","after":"3","type":"SignedIn"}"#)
    }

    @Test(arguments: ["", "-1", "07", "x", "1, 2", "9223372036854775808"])
    func `a last event that is no position is refused`(_ last: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: [("Last-Event-ID", last)])
        #expect(answer.summary == "400 INVALID_REQUEST")
        #expect(service.audit.access.accesses().isEmpty)
    }

    @Test(arguments: ["limit=1", "disclose=true", "to=4", "after=-1", "type=Nothing"])
    func `what a stream does not know is refused`(_ query: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let answer = try await service.send("GET", "\(Self.path)?\(query)", token: key)
        #expect(answer.summary == "400 INVALID_REQUEST")
    }

    @Test func `there are so many streams at once, and a place is free when one is let go`()
        async throws
    {
        let service = try TestService()
        let key = try service.audit.key(.support)
        var open = [try await service.respond("GET", Self.path, token: key)]
        for _ in 1..<TestAudit.streamsMax {
            open.append(try await service.respond("GET", Self.path, token: key))
        }
        #expect(open.allSatisfy { $0.status == 200 })
        let refused = try await service.send("GET", Self.path, token: key)
        #expect(refused.summary == "503 UNAVAILABLE" && refused["Retry-After"] != nil)
        open.removeLast()
        #expect(try await service.send("GET", Self.path, token: key).status == 200)
    }
}
