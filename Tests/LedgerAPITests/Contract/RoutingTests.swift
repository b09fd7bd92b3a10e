import Cryptography
import HTTP
import JSON
import Ledger
import LedgerAPI
import LedgerTestSupport
import Testing

@Suite(.overBothTransports) struct RoutingTests {
    @Test(arguments: [
        "/", "/v1", "/v1/", "/v1/account/", "/v2/account", "/v1/auth/link", "/v1/auth/link/",
        "/v1/auth/link/a%2Fb", "/v1/auth/link/%FF", "/v1/auth/link/a%00b", "/V1/account",
        "/t/default", "/t//v1/account", "/t/default/t/default/v1/account", "/metrics",
        "/t/default/healthz", "*",
    ])
    func `a path that no route has is a 404`(path: String) async throws {
        let answer = try await TestService().send("GET", path)
        #expect(answer.status == 404)
        #expect(answer.body == "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"Not found\"}}")
        #expect(answer["Cache-Control"] == "no-store")
    }

    @Test(arguments: ["other", "DEFAULT", "a.b", "%C3%A9", "a%20b"])
    func `a tenant that does not exist is a 404 on every path`(tenant: String) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let requests = [
            ("GET", "/v1/account"), ("POST", "/v1/auth/sign-in/apple"),
            ("POST", "/v1/auth/refresh"), ("POST", "/v1/auth/sign-out"),
            ("POST", "/v1/auth/link/apple"), ("DELETE", "/v1/auth/link/apple"),
            ("GET", "/.well-known/jwks.json"),
        ]
        for (method, path) in requests {
            for method in [method, "OPTIONS", "PATCH"] {
                let answer = try await service.send(
                    method, "/t/\(tenant)\(path)", token: person.accessToken)
                #expect(answer.summary == "404 NOT_FOUND")
                #expect(answer["Allow"] == nil)
            }
        }
    }

    @Test(arguments: [
        ("GET", "/v1/auth/sign-in/apple", "OPTIONS, POST"),
        ("DELETE", "/v1/auth/refresh", "OPTIONS, POST"),
        ("GET", "/v1/auth/link/google", "DELETE, OPTIONS, POST"),
        ("PUT", "/t/default/v1/auth/link/google", "DELETE, OPTIONS, POST"),
        ("POST", "/v1/account", "GET, HEAD, OPTIONS"),
        ("POST", "/healthz", "GET, HEAD, OPTIONS"),
        ("BREW", "/.well-known/jwks.json", "GET, HEAD, OPTIONS"),
        ("get", "/v1/account", "GET, HEAD, OPTIONS"),
    ])
    func `another method is a 405 that lists the supported ones`(
        method: String, path: String, allow: String
    ) async throws {
        let answer = try await TestService().send(method, path)
        #expect(answer.summary == "405 METHOD_NOT_ALLOWED")
        #expect(answer["Allow"] == allow)
    }

    @Test func `OPTIONS of the server has the methods of all paths`() async throws {
        let answer = try await TestService().send("OPTIONS", "*")
        #expect(answer.status == 204)
        #expect(answer["Allow"] == "DELETE, GET, HEAD, OPTIONS, POST, PUT")
    }

    @Test func `the published keys may be cached for five minutes`() async throws {
        let acme = try #require(TenantID("acme"))
        let service = try TestService { $0.tenants = [.default, acme] }
        for path in ["/.well-known/jwks.json", "/t/acme/.well-known/jwks.json"] {
            let answer = try await service.send("GET", path)
            #expect(answer.status == 200)
            #expect(answer["Cache-Control"] == "public, max-age=300")
            #expect(answer.json["keys"]?.array?.count == 1)
        }
    }

    @Test func `health and readiness answer in JSON`() async throws {
        let service = try TestService()
        #expect(try await service.send("GET", "/healthz").body == "{\"status\":\"ok\"}")
        #expect(try await service.send("GET", "/readyz").body == "{\"status\":\"ready\"}")
        let unready = try TestService { $0.isReady = false }
        let answer = try await unready.send("GET", "/readyz")
        #expect(answer.summary == "503 UNAVAILABLE")
        #expect(answer["Retry-After"] == "2")
        #expect(!answer.body.contains("database"))
        #expect(try await unready.send("GET", "/healthz").status == 200)
    }

    @Test(
        arguments: [
            (LedgerFault.overloaded, "503 UNAVAILABLE", "1"),
            (.unavailable, "503 UNAVAILABLE", "2"), (.internalFailure, "500 INTERNAL", nil),
        ] as [(LedgerFault, String, String?)])
    func `a fault is not a refusal`(
        fault: LedgerFault, summary: String, retryAfter: String?
    ) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        service.ledger.fail(with: fault)
        let answers = [
            try await service.postSignIn("apple", service.idToken("apple", "ada")),
            try await service.link("google", subject: "g", by: person),
            try await service.unlink("apple", by: person),
            try await service.refresh(person.refreshToken),
            try await service.account(person.accessToken),
            try await service.account(person.accessToken, tenant: "/t/acme"),
            try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken),
        ]
        for answer in answers {
            #expect(answer.summary == summary)
            #expect(answer["Retry-After"] == retryAfter)
        }
        service.ledger.fail(with: nil)
        #expect(try await service.account(person.accessToken).status == 200)
    }

    @Test(arguments: [
        (HTTPRejection.bodyTooLarge, "413 PAYLOAD_TOO_LARGE"),
        (.lengthRequired, "411 LENGTH_REQUIRED"),
        (.malformed, "400 INVALID_REQUEST"), (.overloaded, "503 UNAVAILABLE"),
        (.internalFailure, "500 INTERNAL"), (.headersTooLarge, "431 INVALID_REQUEST"),
        (.expectationUnknown, "417 INVALID_REQUEST"),
    ])
    func `a request that the server rejects has an error body, too`(
        rejection: HTTPRejection, summary: String
    ) throws {
        let service = try TestService()
        let answer = Answer(service.api.reject(rejection, [:]))
        #expect(answer.summary == summary)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer["Cache-Control"] == "no-store")
        #expect(RequestID(answer["X-Request-Id"] ?? "") != nil)
        #expect(answer["Retry-After"] == (rejection == .overloaded ? "1" : nil))
        #expect(service.observer.observations.map(\.route) == ["rejected"])
    }

    @Test(arguments: HTTPRejection.allCases)
    func `a request that the server rejects keeps the client's request id`(
        rejection: HTTPRejection
    ) throws {
        let service = try TestService()
        let answer = Answer(service.api.reject(rejection, ["x-request-id": "mine-1"]))
        #expect(answer["X-Request-Id"] == "mine-1")
        #expect(service.observer.observations.map(\.requestID) == ["mine-1"])
    }
}
