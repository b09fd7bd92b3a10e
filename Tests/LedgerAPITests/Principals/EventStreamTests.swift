import BlockingCalls
import HTTP
import Ledger
import LedgerAPI
import LedgerTestSupport
import Sockets
import Synchronization
import Testing

/// A log that another one replaces.
private final class ReplacedEvents: EventReader {
    private let events: Mutex<InMemoryEvents>

    init(_ ledger: InMemoryLedger) {
        events = Mutex(InMemoryEvents(ledger))
    }

    func replace(_ ledger: InMemoryLedger) {
        events.withLock { $0 = InMemoryEvents(ledger) }
    }

    func events(
        matching query: EventQuery, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> CursorPage<ShownEvent> {
        try await events.withLock { $0 }.events(
            matching: query, in: tenant, isDisclosing: isDisclosing)
    }

    func event(
        _ id: EventID, in tenant: TenantID, isDisclosing: Bool
    ) async throws(LedgerFault) -> ShownEvent? {
        try await events.withLock { $0 }.event(id, in: tenant, isDisclosing: isDisclosing)
    }

    func formerLink(
        of identity: IdentityID, to account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> FormerLink? {
        try await events.withLock { $0 }.formerLink(of: identity, to: account, in: tenant)
    }
}

/// The start of an event stream; its content is tested over sockets.
struct EventStreamTests {
    private static let path = "/v1/events/stream"

    @Test func `a stream has its headers, and its start is recorded`() async throws {
        let service = try TestService()
        _ = try await service.signIn("google", "ada")
        let key = try service.audit.key(.auditor)
        let response = try await service.respond(
            "GET", "\(Self.path)?after=3&type=SignedIn", token: key,
            headers: [("Last-Event-ID", "2")])
        #expect(response.status == 200 && response.stream != nil && response.body.isEmpty)
        let fields = response.headers
        #expect(fields.contains { $0 == ("Content-Type", "text/event-stream") })
        #expect(fields.contains { $0 == ("Cache-Control", "no-store") })
        let access = try #require(service.audit.access.accesses().last)
        #expect(access.action == "event.stream" && access.outcome == "allowed")
        #expect(
            access.details == #"{"Last-Event-ID":"2","after":"3","type":"SignedIn"}"#)
        let shown = try await service.send("GET", "/v1/access-log", token: key)
        #expect(shown.body.contains(#""Last-Event-ID":"2""#), "\(shown.body)")
    }

    @Test func `a client that has seen an event outside of the log gets 404 and no stream`()
        async throws
    {
        let service = try TestService()
        _ = try await service.signIn("google", "ada")
        let key = try service.audit.key(.auditor)
        let log = service.ledger.recordings()
        func answer(_ query: String, last: String? = nil) async throws -> String {
            try await service.send(
                "GET", Self.path + query, token: key,
                headers: last.map { [("Last-Event-ID", $0)] } ?? []
            ).summary
        }
        let last = try #require(log.last?.recorded)
        for seen in ["0", "\(last.position)", "\(last.position)-\(last.id)"] {
            #expect(try await answer("", last: seen) == "200 OK")
        }
        // The log is shorter, or another one, as after a restore.
        for seen in ["\(log.count)", "\(last.position)-\(log[0].recorded.id)", "1041-\(last.id)"] {
            #expect(try await answer("", last: seen) == "404 EVENT_NOT_FOUND")
        }
        #expect(try await answer("?after=\(log.count)") == "404 EVENT_NOT_FOUND")
        #expect(try await answer("?after=\(last.position)") == "200 OK")
    }

    @Test func `a stream ends when its last event was replaced, as after a failover`() async throws
    {
        let (first, second) = (try TestService(), try TestService())
        _ = try await first.signIn("google", "ada")
        for name in ["bob", "eve"] { _ = try await second.signIn("google", name) }
        let last = try #require(first.ledger.recordings().last?.recorded)
        let events = ReplacedEvents(first.ledger)
        let service = try TestService { $0.events = events }
        let key = try service.audit.key(.auditor)
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { service.api.reject($0, $1) }, handler: { await service.api.handle($0) })
        let port = server.port
        let text = try await BlockingExecutor(label: "event stream").run {
            let socket = try ClientSocket(port: port, waitSecondsMax: 120)
            let head = "GET \(Self.path) HTTP/1.1\r\nHost: ledger.example\r\n"
            try socket.send(Array("\(head)Authorization: Bearer \(key)\r\n\r\n".utf8))
            var text = ""
            while let next = try socket.nextBytes(), !next.isEmpty {
                text += String(decoding: next, as: UTF8.self)
                if text.contains("id: \(last.position)-\(last.id)") {
                    events.replace(second.ledger)
                }
                // An event of the other log, behind those that the client never sees.
                if text.contains("id: \(last.position.next)-") { break }
            }
            return text
        }
        #expect(text.contains("id: \(last.position)-\(last.id)"))
        #expect(!text.contains("id: \(last.position.next)-"))
        await server.stop(grace: .seconds(5))
    }

    @Test(arguments: [
        "", "-1", "07", "x", "1, 2", "9223372036854775808", "1-", "1-x", "-0190a1b2",
    ])
    func `a malformed Last-Event-ID is refused`(_ last: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.auditor)
        let answer = try await service.send(
            "GET", Self.path, token: key, headers: [("Last-Event-ID", last)])
        #expect(answer.summary == "400 INVALID_REQUEST")
        #expect(service.audit.access.accesses().isEmpty)
    }

    @Test(arguments: ["limit=1", "disclose=true", "to=4", "after=-1", "type=Nothing"])
    func `unknown parameters of a stream are refused`(_ query: String) async throws {
        let service = try TestService()
        let key = try service.audit.key(.admin)
        let answer = try await service.send("GET", "\(Self.path)?\(query)", token: key)
        #expect(answer.summary == "400 INVALID_REQUEST")
    }

    @Test func `concurrent streams are limited, and a closed one frees its slot`()
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
