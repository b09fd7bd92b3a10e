import Ledger
import LedgerAPI
import Testing

/// Requests as spans of their clients' traces.
@Suite(.overBothTransports) struct RequestTraceTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a request is a span of its own in its client's trace`() async throws {
        let service = try TestService()
        for _ in 0..<2 {
            _ = try await service.send(
                "GET", "/healthz", headers: [("Traceparent", Self.parent)])
        }
        let traces = service.observer.observations.compactMap(\.trace)
        #expect(traces.count == 2)
        #expect(traces.allSatisfy { $0.traceText == "4bf92f3577b34da6a3ce929d0e0e4736" })
        #expect(traces.allSatisfy { $0.flags == 1 })
        #expect(Set(traces.map(\.spanText) + ["00f067aa0ba902b7"]).count == 3)
    }

    @Test(arguments: [[], ["00-4bf92f35"], [parent, parent]])
    func `without one valid value there is no trace`(values: [String]) async throws {
        let service = try TestService()
        let answer = try await service.send(
            "GET", "/healthz", headers: values.map { ("traceparent", $0) })
        #expect(answer.status == 200)
        #expect(service.observer.observations.map(\.trace) == [nil])
    }

    @Test func `pages of allowed origins may send the fields of a trace`() async throws {
        let origin = "https://app.example"
        let service = try TestService { $0.origins = origin }
        let answer = try await service.send(
            "OPTIONS", "/v1/account",
            headers: [("Origin", origin), ("Access-Control-Request-Method", "GET")])
        let fields = answer["Access-Control-Allow-Headers"] ?? ""
        #expect(fields.contains("traceparent") && fields.contains("tracestate"))
    }
}
