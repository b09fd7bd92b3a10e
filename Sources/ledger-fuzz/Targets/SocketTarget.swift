import Cryptography
import Foundation
import HTTP
import JSON
import LedgerAPI
import Sockets

/// Raw bytes on a server's socket: never a 5xx, every answer is the server's own, every connection
/// ends, and the server still answers other clients.
enum SocketTarget {
    /// More than the 30 s after which a server disconnects an idle client.
    private static let waitSecondsMax = 60
    private static let quietMilliseconds = 40
    /// Sent after the input: after a complete request the server answers this one and closes; after an
    /// incomplete one it is part of that request.
    private static let last = Array(
        "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
    private static let answerBytesMax = 8_000_000

    /// A running server: its port, and in this process the object that keeps it alive.
    struct Served: Sendable {
        let port: UInt16
        let tokens: LiveTokens
        let server: HTTPServer?
    }

    /// Starts a server in this process on an in-memory ledger.
    static func inProcess(_ service: FuzzService) async throws -> Served {
        let api = try service.api()
        let tokens = try await LiveTokens(signingInAt: api, of: service)
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { api.reject($0, $1) },
            handler: { request in
                var response = await api.handle(request)
                // A stream never ends, but an exchange is checked when it has ended.
                response.stream = nil
                return response
            })
        return Served(port: server.port, tokens: tokens, server: server)
    }

    /// Uses a server process in development mode, whose identity provider imitates Google.
    static func development(port: UInt16) throws -> Served {
        var tokens = LiveTokens()
        let minted = try json(
            port, "GET /dev/idp/google/token?name=fuzz HTTP/1.1\nHost: localhost\n\n")
        tokens.idToken = minted["id_token"]?.string ?? ""
        let body = "{\"id_token\":\"\(tokens.idToken)\"}"
        let session = try json(
            port,
            "POST /v1/auth/sign-in/google HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                + "Content-Length: \(body.utf8.count)\n\n\(body)")
        tokens.accessToken = session["access_token"]?.string ?? ""
        tokens.refreshToken = session["refresh_token"]?.string ?? ""
        guard !tokens.accessToken.isEmpty else { throw Finding("the server refuses a sign-in") }
        return Served(port: port, tokens: tokens, server: nil)
    }

    static func target(_ served: Served) -> FuzzTarget {
        let forms = [
            "POST /dev/idp/google/token\nHost: localhost\nContent-Type: application/x-www-form-urlencoded\n\n"
                + "name=ada&email=a%40b.c&audience=dev-client&nonce=n&auth_time=1",
            "POST /dev/idp/apple/\nHost: localhost\n\nname=a+b&nonce=%C3%A9",
            "GET /dev/idp/google/token?name=ada&nonce=n\nHost: localhost\n\n",
            "GET /dev/idp/google/.well-known/openid-configuration\nHost: localhost\n\n",
        ]
        let templates = RequestTemplates.all + (served.server == nil ? forms : [])
        let corpus =
            templates.map(Self.onTheWire) + [
                "POST /v1/auth/refresh HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /readyz HTTP/1.0\r\n\r\n",
                "POST /v1/auth/refresh HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
            ]
        return FuzzTarget("socket", corpus: corpus, words: words) { input in
            let answer = try exchange(served.port, measured(served.tokens.fill(input)))
            // Answers of the development identity provider have no `X-Request-Id`.
            try check(answer, isNamed: served.server != nil)
            // The input of one client must not affect the next client.
            if input.count % 16 == 0 {
                let health = try exchange(served.port, Array("GET /healthz HTTP/1.0\r\n\r\n".utf8))
                try require(health.starts(with: "HTTP/1.1 200".utf8), "the server is not healthy")
            }
            return answer.starts(with: "HTTP/1.1 2".utf8)
        }
    }

    private static let words =
        RequestTemplates.words.map { $0.replacing("\n", with: "\r\n") } + [
            "name=", "&", "+", "%ZZ", "auth_time=99999999999999999999", "\n", "\r", "\r\n ",
            "Content-Length: 99999999999999999999\r\n", "Content-Length: 0\r\n",
            "FFFFFFFFFFFFFFFF\r\n",
            " HTTP/1.1\r\n", "HTTP/2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Upgrade: h2c\r\n",
            "\u{16}\u{3}\u{1}", "X: \(String(repeating: "x", count: 9_000))\r\n",
        ]

    private static func check(_ answer: [UInt8], isNamed: Bool) throws {
        guard !answer.isEmpty else { return }
        try require(answer.starts(with: "HTTP/1.1 ".utf8), "the answer is not HTTP")
        // The input may hold several requests, so every status line is checked.
        let text = String(decoding: answer, as: UTF8.self)
        let heads = text.ranges(of: "HTTP/1.1 ").map { text[$0.upperBound...].prefix(3) }
        for status in heads { try require(!status.hasPrefix("5"), "the answer is \(status)") }
        // Answers that libmicrohttpd makes have no `X-Request-Id`, and often two heads.
        let names = text.ranges(of: "\r\nX-Request-Id: ").count
        try require(
            !isNamed || heads.count { $0 != "100" } == names, "an answer is not the server's own")
    }

    private static func exchange(
        _ port: UInt16, _ bytes: [UInt8], quiet: Int = quietMilliseconds
    ) throws -> [UInt8] {
        do {
            return try ClientSocket(port: port, waitSecondsMax: waitSecondsMax).exchange(
                bytes + last, quietMilliseconds: quiet, waitSecondsMax: waitSecondsMax,
                bytesMax: answerBytesMax)
        } catch {
            throw Finding("the server does not serve: \(error)")
        }
    }

    private static func json(_ port: UInt16, _ request: String) throws -> JSONMembers {
        // The first sign-in fetches the provider's keys, which takes longer than others.
        let answer = try exchange(
            port, Array(request.replacing("\n", with: "\r\n").utf8), quiet: waitSecondsMax * 1000)
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else { return [:] }
        // The answer to `last` follows.
        let next = answer[end.upperBound...].firstRange(of: Array("HTTP/1.1 ".utf8))
        let body = answer[end.upperBound..<(next?.lowerBound ?? answer.endIndex)]
        return JSONValue(parsing: Array(body))?.members ?? [:]
    }

    /// Returns a template with the version and the length that a client would write.
    private static func onTheWire(_ template: String) -> String {
        let parts = template.split(
            separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let body = parts.count > 1 ? String(parts[1]) : ""
        var lines = parts[0].split(separator: "\n", omittingEmptySubsequences: true).map(
            String.init)
        lines[0] += " HTTP/1.1"
        // The tokens differ in length from their placeholders, so the length is not known yet.
        if !body.isEmpty { lines.append("Content-Length: <LENGTH>") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    /// Replaces a placeholder for the length by the length of the body.
    private static func measured(_ bytes: [UInt8]) -> [UInt8] {
        let placeholder = Array("<LENGTH>".utf8)
        guard let found = bytes.firstRange(of: placeholder),
            let end = bytes[found.upperBound...].firstRange(of: Array("\r\n\r\n".utf8))
        else { return bytes }
        let length = Array("\(bytes.count - end.upperBound)".utf8)
        return Array(bytes[..<found.lowerBound] + length + bytes[found.upperBound...])
    }
}
