import Foundation
import LedgerClient
import LoopbackServers
import Synchronization
import Testing

/// Requests over real sockets: how a missing answer is told from a request that was not sent.
struct TransportTests {
    /// A clock by which all time has passed once a server has a request.
    private final class RequestClock: TimeSource {
        private let server: LoopbackServer
        private let recorded = Mutex<[Duration]>([])

        init(_ server: LoopbackServer) {
            self.server = server
        }

        var wall: Date { .distantPast }
        var monotonic: Duration { .zero }
        var sleeps: [Duration] { recorded.withLock(\.self) }

        func sleep(for duration: Duration) async throws(CancellationError) {
            recorded.withLock { $0.append(duration) }
            while server.requests == 0 { await Task.yield() }
        }
    }

    private func send(
        _ port: UInt16, time: any TimeSource = SystemTime()
    ) async throws(TransportError) -> TransportResponse {
        guard let url = URL(string: "http://127.0.0.1:\(port)/v1/providers") else {
            throw .cancelled
        }
        return try await URLSessionTransport(time: time).send(
            TransportRequest(method: "GET", url: url, timeout: .seconds(60)))
    }

    private func error(
        _ port: UInt16, time: any TimeSource = SystemTime()
    ) async -> TransportError? {
        do throws(TransportError) {
            _ = try await send(port, time: time)
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

    @Test(.timeLimit(.minutes(1)))
    func `an answer that drips ends at the deadline of the request`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        let server = try LoopbackServer(
            answer: Array(head.utf8) + Array(repeating: 0x20, count: 1_000_000),
            dripMilliseconds: 1)
        let clock = RequestClock(server)
        #expect(await error(server.port, time: clock) == .unanswered)
        #expect(clock.sleeps == [.seconds(60)])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a body that is too long is not read to its end`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
        let server = try LoopbackServer(
            answer: Array(head.utf8) + Array(repeating: 0x20, count: 2 << 20), closes: false)
        let response = try await send(server.port)
        #expect(response.status == 200 && response.body.count == (1 << 20) + 1)
    }

    @Test func `a cancelled task ends its request`() async throws {
        let server = try LoopbackServer(answer: [], closes: false)
        let task = Task { await error(server.port) }
        while server.requests == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == .cancelled)
    }
}
