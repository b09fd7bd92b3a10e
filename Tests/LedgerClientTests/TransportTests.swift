import Foundation
import LedgerClient
import LoopbackServers
import Testing

/// Requests over real sockets: how a missing answer is told from a request that was not sent.
struct TransportTests {
    private func send(_ port: UInt16) async throws(TransportError) -> TransportResponse {
        guard let url = URL(string: "http://127.0.0.1:\(port)/v1/providers") else {
            throw .cancelled
        }
        return try await URLSessionTransport().send(
            TransportRequest(method: "GET", url: url, timeout: .seconds(60)))
    }

    private func error(_ port: UInt16) async -> TransportError? {
        do throws(TransportError) {
            _ = try await send(port)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a redirection is an answer, and is not followed`() async throws {
        let server = try LoopbackServer(
            answer: Array(
                """
                HTTP/1.1 307 Temporary Redirect\r
                Location: /elsewhere\r
                Date: Sun, 06 Nov 1994 08:49:37 GMT\r
                Set-Cookie: a=b\r
                Content-Length: 2\r
                \r
                {}
                """.utf8))
        let response = try await send(server.port)
        #expect(response.status == 307)
        #expect(response.header("DATE") == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(server.requests == 1)
        _ = try await send(server.port)
        #expect(server.requestHeads.allSatisfy { !$0.contains("Cookie") })
    }

    @Test func `a connection that ends without an answer leaves open what happened`() async throws {
        let server = try LoopbackServer(answer: [])
        #expect(await error(server.port) == .unanswered)
        let broken = try LoopbackServer(
            answer: Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}".utf8))
        #expect(await error(broken.port) == .unanswered)
    }

    @Test func `a request without a connection was not sent`() async throws {
        var port: UInt16 = 0
        do { port = try LoopbackServer(answer: []).port }
        // The listener closes on its own thread.
        while await error(port) == .unanswered {}
        #expect(await error(port) == .notSent)
    }

    @Test func `a cancelled task ends its request`() async throws {
        let server = try LoopbackServer(answer: [], closes: false)
        let task = Task { await error(server.port) }
        while server.requests == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == .cancelled)
    }
}
