import HTTP
import JSON
import LedgerAPI
import Testing

@Suite(.overBothTransports) struct CrossOriginTests {
    private static let allowed = "https://app.example"

    private func service() throws -> TestService {
        try TestService { $0.origins = "https://app.example, http://localhost:3000" }
    }

    @Test func `a preflight lists the allowed requests of a page`() async throws {
        let answer = try await service().send(
            "OPTIONS", "/v1/auth/link/google",
            headers: [("Origin", Self.allowed), ("Access-Control-Request-Method", "DELETE")])
        #expect(answer.status == 204)
        #expect(answer.body.isEmpty)
        #expect(answer["Access-Control-Allow-Origin"] == Self.allowed)
        #expect(answer["Access-Control-Allow-Methods"] == "DELETE, POST")
        let described = DescribedAPI.all.values.flatMap(\.operation.parameters)
            .filter { $0["in"]?.string == "header" }.compactMap { $0["name"]?.string }
        #expect(
            answer["Access-Control-Allow-Headers"]
                == Set(
                    ["Authorization", "Content-Type", "traceparent", "tracestate"] + described
                ).sorted().joined(separator: ", "))
        #expect(answer["Access-Control-Max-Age"] == "600")
        #expect(answer["Vary"] == "Origin")
        #expect(answer["Access-Control-Allow-Credentials"] == nil)
    }

    @Test(arguments: [
        "https://evil.example", "https://app.example.evil.example", "http://app.example",
        "https://app.example:444", "null", "*", "HTTPS://APP.EXAMPLE",
    ])
    func `another origin gets no CORS fields`(origin: String) async throws {
        let service = try service()
        let preflight = try await service.send(
            "OPTIONS", "/v1/account",
            headers: [("Origin", origin), ("Access-Control-Request-Method", "GET")])
        let actual = try await service.send("GET", "/v1/account", headers: [("Origin", origin)])
        #expect(preflight.status == 204)
        for answer in [preflight, actual] {
            #expect(!answer.headers.contains { $0.name.hasPrefix("Access-Control") })
            #expect(answer["Vary"] == "Origin")
        }
    }

    @Test func `an answer is readable, also an error`() async throws {
        let service = try service()
        for origin in [Self.allowed, "http://localhost:3000"] {
            let answer = try await service.send(
                "GET", "/v1/account", headers: [("Origin", origin)])
            #expect(answer.status == 401)
            #expect(answer["Access-Control-Allow-Origin"] == origin)
            #expect(
                answer["Access-Control-Expose-Headers"]
                    == "X-Request-Id, Retry-After, WWW-Authenticate")
            #expect(answer["Vary"] == "Origin")
        }
    }

    @Test func `a rejection by the server is readable`() throws {
        let service = try service()
        for rejection in HTTPRejection.allCases {
            let answer = Answer(service.api.reject(rejection, ["Origin": Self.allowed]))
            #expect(answer["Access-Control-Allow-Origin"] == Self.allowed)
            #expect(answer["Vary"] == "Origin")
        }
    }

    @Test func `without a list there are no CORS fields`() async throws {
        let answer = try await TestService().send(
            "OPTIONS", "/v1/account",
            headers: [("Origin", Self.allowed), ("Access-Control-Request-Method", "GET")])
        #expect(answer.status == 204)
        #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
        #expect(!answer.headers.contains { $0.name.hasPrefix("Access-Control") })
        #expect(answer["Vary"] == nil)
    }

    @Test func `a preflight of no path is a 404`() async throws {
        let answer = try await service().send(
            "OPTIONS", "/nothing",
            headers: [("Origin", Self.allowed), ("Access-Control-Request-Method", "GET")])
        #expect(answer.summary == "404 NOT_FOUND")
    }

    @Test(arguments: [
        ("", true), ("https://a.example", true), ("https://a.example,http://[::1]:3000", true),
        ("*", false), ("null", false), ("a.example", false), ("https://a.example/", false),
        ("https://", false), ("ftp://a.example", false), ("https://A.example", false),
        ("https://*.example", false), ("https://u@a.example", false),
        ("https://a.example.", true), ("https://a-b.x1:8443", true), ("http://127.0.0.1:80", false),
        ("http://127.0.0.1:8080", true), ("https://localhost", true), ("http://a:443", true),
        ("https://[x", false), ("https://[::1", false), ("https://::1", false),
        ("https://[::1]x", false), ("https://[]", false), ("https://[1.2.3.4]", false),
        ("https://[0:0:0:0:0:0:0:1]", false), ("https://[::ffff:1.2.3.4]", false),
        ("https://x]", false), ("https://a:b", false), ("https://a:", false),
        ("https://a:0", false), ("https://a:08443", false), ("https://a:65536", false),
        ("https://a:443", false), ("https://a:1:2", false), ("https://:8443", false),
        ("https://a..example", false), ("https://.a", false), ("https://.", false),
        ("https://1.2.3.256", false), ("https://1.2.3", false), ("https://a.1", false),
        ("https://\(String(repeating: "a", count: 64)).example", false),
    ])
    func `a list names origins and nothing else`(list: String, isGood: Bool) {
        #expect((AllowedOrigins(list) != nil) == isGood)
    }
}
