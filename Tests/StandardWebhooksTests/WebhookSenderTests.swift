import LoopbackServers
import Testing

@testable import HTTPClient
@testable import StandardWebhooks

/// Sends over real sockets on 127.0.0.1, to correct and incorrect receivers.
@Suite(.timeLimit(.minutes(3))) struct WebhookSenderTests {
    private static let body = Array(#"{"type":"SignedIn"}"#.utf8)

    private func request(_ url: String) -> WebhookRequest {
        WebhookRequest(
            url: url, id: "an-id", seconds: 1_614_265_330, body: Self.body,
            secrets: [WebhookSecret.generate()])
    }

    private func outcome(
        of text: String, closes: Bool = true, limit: Duration = .seconds(30)
    ) async throws -> WebhookOutcome {
        let server = try LoopbackServer(answer: Array(text.utf8), closes: closes)
        let sender = WebhookSender(timeLimit: limit)
        return await sender.send(request("http://127.0.0.1:\(server.port)/hook"))
    }

    @Test func `a request carries the body and the headers, and nothing else`() async throws {
        let server = try LoopbackServer(
            answer: Array("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".utf8))
        let request = request("http://127.0.0.1:\(server.port)/hook?a=b")
        let outcome = await WebhookSender().send(request)
        #expect(outcome == .answered(status: 204, retryAfterSeconds: nil))
        let signature = try #require(request.field("webhook-signature"))
        #expect(
            server.requestHeads == [
                """
                POST /hook?a=b HTTP/1.1\r
                Host: 127.0.0.1:\(server.port)\r
                User-Agent: account-ledger\r
                Accept: */*\r
                Content-Type: application/json\r
                webhook-id: an-id\r
                webhook-timestamp: 1614265330\r
                webhook-signature: \(signature)\r
                Content-Length: 19\r
                \r
                {"type":"SignedIn"}
                """
            ])
    }

    @Test(arguments: [200, 202, 302, 307, 400, 404, 410, 500])
    func `every status is an answer, and a redirect is not followed`(status: Int) async throws {
        let target = try LoopbackServer(answer: [])
        let outcome = try await outcome(
            of: """
                HTTP/1.1 \(status) X\r\nLocation: http://127.0.0.1:\(target.port)/\r\n\
                Content-Length: 2\r\n\r\nno
                """)
        #expect(outcome == .answered(status: status, retryAfterSeconds: nil))
        #expect(target.requests == 0)
    }

    @Test func `an answer after an informational one is taken`() async throws {
        let outcome = try await outcome(
            of: "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 201 X\r\nContent-Length: 0\r\n\r\n")
        #expect(outcome == .answered(status: 201, retryAfterSeconds: nil))
    }

    @Test func `the pause that a receiver requests is reported`() async throws {
        let seconds = try await outcome(
            of: "HTTP/1.1 503 X\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n")
        #expect(seconds == .answered(status: 503, retryAfterSeconds: 120))
        let past = try await outcome(
            of: """
                HTTP/1.1 429 X\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\
                Content-Length: 0\r\n\r\n
                """)
        #expect(past == .answered(status: 429, retryAfterSeconds: nil))
    }

    @Test func `a body without end is not read to its end`() async throws {
        let body = String(repeating: "x", count: 8 * WebhookSender.bodyBytesMax)
        let outcome = try await outcome(of: "HTTP/1.1 200 OK\r\n\r\n\(body)", closes: false)
        #expect(outcome == .answered(status: 200, retryAfterSeconds: nil))
    }

    @Test func `a head without end is broken off`() async throws {
        let chunk = String(repeating: "X-Room: x\r\n", count: Transfer.headBytesMax / 8)
        let outcome = try await outcome(of: "HTTP/1.1 200 OK\r\n\(chunk)", closes: false)
        #expect(outcome == .failed(.broken))
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "SSH-2.0-x\r\n"])
    func `an incomplete answer does not count`(text: String) async throws {
        #expect(try await outcome(of: text) == .failed(.broken))
    }

    @Test func `a silent receiver is given its time`() async throws {
        let outcome = try await outcome(of: "", closes: false, limit: .milliseconds(200))
        #expect(outcome == .failed(.timedOut))
    }

    @Test func `a closed port is unreachable`() async throws {
        var server: LoopbackServer? = try LoopbackServer(answer: [])
        let port = try #require(server?.port)
        server = nil
        // The listener is closed later, by its own thread; until then connections are reset.
        let sender = WebhookSender()
        var outcome = WebhookOutcome.failed(.broken)
        for _ in 0..<1_000 where outcome == .failed(.broken) {
            outcome = await sender.send(request("http://127.0.0.1:\(port)/"))
        }
        #expect(outcome == .failed(.unreachable))
    }

    @Test(arguments: [
        "", "example.org", "http://example.org/", "ftp://127.0.0.1/", "file:///etc/passwd",
        "https:/example.org", "https:///example.org", "http://127.0.0.1.example.org/",
    ])
    func `an address that is neither https nor of this machine is refused`(
        url: String
    ) async throws {
        #expect(throws: WebhookAddress.Flaw.form) { try WebhookAddress(url) }
        let outcome = await WebhookSender().send(request(url))
        #expect(outcome == .failed(.unacceptableAddress))
    }

    @Test func `a receiver with an untrusted certificate gets nothing`() async throws {
        let server = try TLSServer(answer: [])
        let sender = WebhookSender(timeLimit: .seconds(30))
        let outcome = await sender.send(request("https://localhost:\(server.port)/"))
        #expect(outcome == .failed(.untrusted))
        let other = WebhookSender(
            timeLimit: .seconds(30), trustedFile: server.certificateFile)
        let wrongName = await other.send(request("https://127.0.0.1:\(server.port)/"))
        #expect(wrongName == .failed(.untrusted))
    }

    @Test func `a receiver whose certificate is trusted is spoken to`() async throws {
        let server = try TLSServer(answer: [], mode: "-rev")
        let sender = WebhookSender(
            timeLimit: .seconds(30), trustedFile: server.certificateFile)
        // It sends every line reversed, which is not HTTP.
        let outcome = await sender.send(request("https://localhost:\(server.port)/"))
        #expect(outcome == .failed(.broken))
    }

    @Test func `a receiver that hangs holds up no other`() async throws {
        let silent = try LoopbackServer(answer: [], closes: false)
        let good = try LoopbackServer(
            answer: Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
        let sender = WebhookSender(timeLimit: .seconds(120))
        await withTaskGroup(of: WebhookOutcome.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    await sender.send(request("http://127.0.0.1:\(silent.port)/"))
                }
            }
            let outcome = await sender.send(request("http://127.0.0.1:\(good.port)/"))
            #expect(outcome == .answered(status: 200, retryAfterSeconds: nil))
            sender.stop()
            for await outcome in group { #expect(outcome == .failed(.stopped)) }
        }
        let later = await sender.send(request("http://127.0.0.1:\(good.port)/"))
        #expect(later == .failed(.stopped))
    }
}
