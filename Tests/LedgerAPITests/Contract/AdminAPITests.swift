import HTTP
import LedgerAPI
import Testing

struct AdminAPITests {
    private func send(_ method: String, _ path: String, isReady: Bool = true) async throws -> Answer
    {
        let admin = AdminAPI(
            metrics: { "ledger_queue_depth 0\n" },
            readiness: {
                Readiness(checks: [
                    .init("database", isReady: true),
                    .init("projector", isReady: isReady, detail: "42 events behind"),
                ])
            })
        let request = try #require(HTTPRequest(method: method, target: path))
        return Answer(await admin.handle(request))
    }

    @Test func `metrics are Prometheus text`() async throws {
        let answer = try await send("GET", "/metrics")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.body == "ledger_queue_depth 0\n")
    }

    @Test func `each page reports its methods`() async throws {
        for path in ["/metrics", "/readyz", "/healthz"] {
            #expect(try await send("POST", path)["Allow"] == "GET, HEAD, OPTIONS")
            let answer = try await send("OPTIONS", path)
            #expect(answer.status == 204)
            #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
            #expect(answer.body.isEmpty)
        }
    }

    @Test(arguments: [(true, 200, "ready"), (false, 503, "not_ready")])
    func `readiness is reported in detail`(isReady: Bool, status: Int, text: String) async throws {
        let answer = try await send("GET", "/readyz", isReady: isReady)
        #expect(answer.status == status)
        #expect(answer["Retry-After"] == (isReady ? nil : "2"))
        #expect(
            answer.body == "{\"status\":\"\(text)\",\"checks\":["
                + "{\"name\":\"database\",\"ready\":true},"
                + "{\"name\":\"projector\",\"ready\":\(isReady),"
                + "\"detail\":\"42 events behind\"}]}")
    }

    @Test func `other paths and methods are errors in JSON`() async throws {
        #expect(try await send("GET", "/v1/account").summary == "404 NOT_FOUND")
        #expect(try await send("POST", "/metrics").summary == "405 METHOD_NOT_ALLOWED")
        #expect(try await send("GET", "/healthz").body == "{\"status\":\"ok\"}")
    }
}
