import Foundation
import LedgerTestSupport
import Testing

/// Malformed requests: a table with the exact answer to each.
@Suite struct BadRequestTests {
    private struct Row {
        let method: String
        let path: String
        var headers: [String: String] = ["Content-Type": "application/json"]
        var body: String?
        let status: Int
        let code: String
        var header: (name: String, value: String)?
    }

    private static let rows: [Row] = [
        Row(method: "GET", path: "/", status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/v1", status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/v1/auth/link/google/", status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/v2/account", status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/t/nobody/v1/account", status: 404, code: "NOT_FOUND"),
        Row(
            method: "POST", path: "/t/nobody/v1/auth/sign-in/google", body: "{\"id_token\":\"x\"}",
            status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/v1/auth/sign-in/a%2Fb", status: 404, code: "NOT_FOUND"),
        Row(method: "GET", path: "/v1/auth/sign-in/%00", status: 404, code: "NOT_FOUND"),
        Row(
            method: "GET", path: "/v1/auth/sign-in/google", status: 405, code: "METHOD_NOT_ALLOWED",
            header: ("Allow", "POST")),
        Row(
            method: "PUT", path: "/v1/account", body: "{}", status: 405, code: "METHOD_NOT_ALLOWED",
            header: ("Allow", "GET")),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", headers: [:], body: "{}", status: 415,
            code: "UNSUPPORTED_MEDIA_TYPE"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google",
            headers: ["Content-Type": "text/plain"], body: "{}", status: 415,
            code: "UNSUPPORTED_MEDIA_TYPE"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "{}", status: 400,
            code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "[]", status: 400,
            code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "{\"id_token\":", status: 400,
            code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "{\"id_token\":7}", status: 400,
            code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google",
            body: "{\"id_token\":\"a\",\"id_token\":\"b\"}", status: 400, code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "{\"id_token\":\"a\\u0000\"}",
            status: 400, code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google", body: "{\"id_token\":\"\\ud800\"}",
            status: 400, code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google",
            body: "{\"id_token\":\"a\",\"create_account\":\"no\"}", status: 400,
            code: "INVALID_REQUEST"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/google",
            body: "{\"id_token\":\"\(String(repeating: "x", count: 70_000))\"}", status: 413,
            code: "PAYLOAD_TOO_LARGE"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/myspace", body: "{\"id_token\":\"x\"}",
            status: 400, code: "UNSUPPORTED_PROVIDER"),
        Row(
            method: "POST", path: "/v1/auth/sign-in/GOOGLE", body: "{\"id_token\":\"x\"}",
            status: 400, code: "UNSUPPORTED_PROVIDER"),
        Row(
            method: "POST", path: "/v1/auth/refresh", body: "{\"refresh_token\":\"x\"}",
            status: 401, code: "INVALID_REFRESH_TOKEN"),
        Row(
            method: "POST", path: "/v1/auth/refresh", body: "{}", status: 400,
            code: "INVALID_REQUEST"),
        Row(method: "POST", path: "/v1/auth/sign-out", status: 401, code: "INVALID_ACCESS_TOKEN"),
        Row(method: "GET", path: "/v1/account", status: 401, code: "INVALID_ACCESS_TOKEN"),
        Row(
            method: "GET", path: "/v1/account", headers: ["Authorization": "Basic YTpi"],
            status: 401, code: "INVALID_ACCESS_TOKEN"),
        Row(
            method: "GET", path: "/v1/account", headers: ["Authorization": "Bearer x.y.z"],
            status: 401, code: "INVALID_ACCESS_TOKEN"),
        Row(
            method: "POST", path: "/v1/auth/link/google", body: "{\"id_token\":\"x\"}", status: 401,
            code: "INVALID_ACCESS_TOKEN"),
        Row(
            method: "DELETE", path: "/v1/auth/link/google", status: 401,
            code: "INVALID_ACCESS_TOKEN"),
    ]

    @Test func `every bad request has its exact answer`() async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            for row in Self.rows {
                let name = "\(row.method) \(row.path) \(row.body?.prefix(60) ?? "")"
                let answer = try await server.client.send(
                    row.method, row.path, headers: row.headers,
                    body: row.body.map { Data($0.utf8) })
                #expect(answer.status == row.status, "\(name)")
                #expect(answer.errorCode == row.code, "\(name)")
                #expect(answer.errorMessage?.isEmpty == false, "\(name)")
                #expect(
                    answer.header("Content-Type")?.hasPrefix("application/json") == true, "\(name)")
                if row.status == 401 {
                    #expect(answer.header("WWW-Authenticate") != nil, "\(name)")
                }
                if let header = row.header {
                    #expect(answer.header(header.name)?.contains(header.value) == true, "\(name)")
                }
            }
        }
    }

    @Test(arguments: ["", String(repeating: "k", count: 256), "ключ"])
    func `an idempotency key that breaks its grammar is a bad request`(key: String) async throws {
        try await Deployment.with { deployment in
            let server = try await deployment.serve()
            var phone = Device(server.client)
            try await phone.signIn(deployment.apple, as: "a")
            let answer = try await phone.link(deployment.google, as: "a", key: key)
            #expect(answer.status == 400 && answer.errorCode == "INVALID_REQUEST")
        }
    }
}
