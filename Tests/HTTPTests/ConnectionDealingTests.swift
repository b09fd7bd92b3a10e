import Glibc
import HTTP
import Testing

/// The distribution of connections to the daemon's threads.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionDealingTests {
    @Test func `simultaneous connections are distributed to all threads`() async throws {
        let threadCount = 4
        let connectionCount = 64
        var limits = HTTPServerLimits()
        limits.threads = threadCount
        // Each connection is idle until all others are connected.
        limits.firstRequestLineTimeMax = .seconds(600)
        limits.idleTimeMax = .seconds(600)
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(status: 200, body: Array("\(UInt(pthread_self()))".utf8))
        }
        try await withServer(limits: limits, handler: handler) { server in
            var clients: [RawClient] = []
            for _ in 0..<connectionCount { clients.append(try await RawClient(port: server.port)) }
            var connectionsOfThread: [String: Int] = [:]
            for client in clients {
                try await client.send("GET / HTTP/1.1\nHost: h\n\n")
                connectionsOfThread[try await client.receive().text, default: 0] += 1
            }
            #expect(
                connectionsOfThread.values.sorted()
                    == Array(repeating: connectionCount / threadCount, count: threadCount))
        }
    }
}
