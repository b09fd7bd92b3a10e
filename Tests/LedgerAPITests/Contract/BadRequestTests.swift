import LedgerTestSupport
import Testing

/// Invalid requests, each with its exact answer.
@Suite(.overBothTransports) struct BadRequestTests {
    /// A request by a signed-in person, and its answer.
    struct Row: Sendable {
        let method: String
        let target: String
        var body: String?
        var type: String? = "application/json"
        let status: Int
        let error: String
    }

    private static let signIn = "/v1/auth/sign-in/apple"
    private static let link = "/v1/auth/link/google"
    private static let mustBeObject = invalid("The body must be a JSON object")
    private static let notJSON = invalid("The body is not valid JSON or has a duplicate member")
    private static let wrongType =
        "{\"code\":\"UNSUPPORTED_MEDIA_TYPE\","
        + "\"message\":\"Content-Type must be application/json\"}"

    private static func invalid(_ message: String, field: String? = nil) -> String {
        let details = field.map { ",\"details\":{\"field\":\"\($0)\"}" } ?? ""
        return "{\"code\":\"INVALID_REQUEST\",\"message\":\"\(message)\"\(details)}"
    }

    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    private static let bodies: [(body: String?, status: Int, error: String)] = [
        (nil, 400, mustBeObject), ("", 400, mustBeObject), ("[]", 400, mustBeObject),
        ("\"x\"", 400, mustBeObject), ("null", 400, mustBeObject), ("{", 400, notJSON),
        ("{} {}", 400, notJSON), ("{\"id_token\":\"a\",}", 400, notJSON),
        ("{'id_token':'a'}", 400, notJSON), ("\u{FEFF}{}", 400, notJSON),
        ("{\"id_token\":\"a\",\"id_token\":\"a\"}", 400, notJSON),
        ("{\"id_token\":\"a\",\"x\":{\"y\":1,\"y\":2}}", 400, notJSON),
        ("{\"id_token\":\"a\",\"id\\u005ftoken\":\"b\"}", 400, notJSON),
        ("{\"id_token\":\"\\ud800\"}", 400, notJSON),
        ("{\"id_token\":\"a\",\"nonce\":\"\\udc00\"}", 400, notJSON),
        ("{\"id_token\":\"a\\u0000\"}", 400, invalid("The body contains the character U+0000")),
        (
            "{\"id_token\":\"a\",\"x\":[\"\\u0000\"]}", 400,
            invalid("The body contains the character U+0000")
        ),
        (String(repeating: "[", count: 40), 400, notJSON),
        ("{}", 400, invalid("id_token is required", field: "id_token")),
        ("{\"id_token\":null}", 400, invalid("id_token is required", field: "id_token")),
        ("{\"id_token\":\"\"}", 400, invalid("id_token is required", field: "id_token")),
        ("{\"ID_TOKEN\":\"a\"}", 400, invalid("id_token is required", field: "id_token")),
        ("{\"id_token\":1}", 400, invalid("id_token must be a string", field: "id_token")),
        ("{\"id_token\":[\"a\"]}", 400, invalid("id_token must be a string", field: "id_token")),
        (
            "{\"id_token\":\"\(long(16_385))\"}", 400,
            invalid("id_token must have at most 16384 bytes", field: "id_token")
        ),
        (
            "{\"id_token\":\"a\",\"nonce\":7}", 400,
            invalid("nonce must be a string", field: "nonce")
        ),
        (
            "{\"id_token\":\"a\",\"nonce\":\"\(long(1025))\"}", 400,
            invalid("nonce must have at most 1024 bytes", field: "nonce")
        ),
    ]

    private static let rows: [Row] =
        [signIn, link].flatMap { target in
            bodies.map { row in
                Row(
                    method: "POST", target: target, body: row.body, status: row.status,
                    error: row.error)
            }
        } + [
            Row(
                method: "POST", target: signIn,
                body: "{\"id_token\":\"a\",\"create_account\":\"no\"}", status: 400,
                error: invalid("create_account must be true or false", field: "create_account")),
            Row(
                method: "POST", target: "/v1/auth/refresh", body: "{}", status: 400,
                error: invalid("refresh_token is required", field: "refresh_token")),
            Row(
                method: "POST", target: "/v1/auth/refresh", body: "{\"refresh_token\":{}}",
                status: 400,
                error: invalid("refresh_token must be a string", field: "refresh_token")),
            Row(
                method: "POST", target: "/v1/auth/sign-out", body: "{\"everywhere\":1}",
                status: 400,
                error: invalid("everywhere must be true or false", field: "everywhere")),
            Row(
                method: "POST", target: "/v1/auth/sign-out", body: "[]", status: 400,
                error: mustBeObject),
        ]

    @Test(arguments: rows)
    func `a malformed body has its exact answer`(row: Row) async throws {
        try await expect(row)
    }

    @Test(arguments: [
        nil, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx",
        "application/problem+json", "json",
    ])
    func `a body that is not declared as JSON is refused`(type: String?) async throws {
        for target in [Self.signIn, Self.link, "/v1/auth/refresh", "/v1/auth/sign-out"] {
            try await expect(
                Row(
                    method: "POST", target: target, body: "{}", type: type, status: 415,
                    error: Self.wrongType))
        }
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json;"])
    func `parameters and case of the media type do not matter`(type: String) async throws {
        try await expect(
            Row(
                method: "POST", target: Self.signIn, body: "{}", type: type, status: 400,
                error: Self.invalid("id_token is required", field: "id_token")))
    }

    @Test func `members that no route knows are ignored`() async throws {
        let service = try TestService()
        let token = service.idToken("apple", "ada")
        let answer = try await service.postSignIn("apple", token, ",\"future\":{\"a\":[1,null]}")
        #expect(answer.status == 200)
    }

    @Test func `a body on an unlink is ignored`() async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let answer = try await service.unlink("google", by: person, body: "not JSON")
        #expect(answer.summary == "404 PROVIDER_NOT_LINKED")
    }

    @Test(arguments: [
        ("POST", "/v1/auth/link/google", "{}", "application/json", ""),
        ("POST", "/v1/auth/link/google", "", "application/json", ""),
        ("POST", "/v1/auth/link/google", "{\"id_token\":\"a\"}", "text/plain", ""),
        ("POST", "/v1/auth/link/google", "{\"id_token\":\"a\"}", "application/json", "é"),
        ("DELETE", "/v1/auth/link/apple", "", "", "é"),
        ("DELETE", "/v1/auth/link/apple?identity_id=x", "", "", "k"),
        ("POST", "/v1/auth/sign-out", "[]", "application/json", ""),
        ("POST", "/v1/auth/sign-out", "{}", "text/plain", ""),
        (
            "POST", "/v1/account/merge/preview",
            #"{"provider":"google","id_token":"a","nonce":1}"#, "application/json", ""
        ),
        (
            "POST", "/v1/account/merge", #"{"provider":"google","id_token":"a"}"#,
            "application/json", ""
        ),
    ])
    func `an ended session is reported before an invalid request`(
        method: String, target: String, body: String, type: String, key: String
    ) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        var headers: [(name: String, value: String)] = [("Content-Type", type)]
        if !key.isEmpty { headers.append(("Idempotency-Key", key)) }
        func send() async throws -> Answer {
            try await service.send(
                method, target, body, token: person.accessToken, headers: headers, isTyped: true)
        }
        #expect([400, 415].contains(try await send().status))
        _ = try await service.send("POST", "/v1/auth/sign-out", token: person.accessToken)
        let answer = try await send()
        #expect(answer.summary == "401 INVALID_ACCESS_TOKEN")
        #expect(answer["WWW-Authenticate"] == "Bearer error=\"invalid_token\"")
    }

    private func expect(_ row: Row) async throws {
        let service = try TestService()
        let person = try await service.signIn("apple", "ada")
        let count = service.ledger.commandCount
        var headers: [(name: String, value: String)] = [
            ("Authorization", "Bearer \(person.accessToken)")
        ]
        if let type = row.type { headers.append(("Content-Type", type)) }
        let answer = try await service.send(
            row.method, row.target, row.body, headers: headers, isTyped: true)
        #expect(answer.status == row.status)
        #expect(answer.body == "{\"error\":\(row.error)}")
        #expect(answer["Content-Type"] == "application/json")
        #expect(service.ledger.commandCount == count)
    }
}
