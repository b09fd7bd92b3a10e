import HTTP
import Testing

/// The memory of bodies is bounded, regardless of their senders and speed.
@Suite(.timeLimit(.minutes(10))) struct BodyBudgetTests {
    private static let bodyBytes = 65_536
    private static let nearly =
        "POST / HTTP/1.1\nHost: h\nContent-Length: \(bodyBytes)\n\n"
        + String(repeating: "a", count: 60_000)

    private static var limits: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.largeBodiesBytesMax = 4 * bodyBytes
        return limits
    }

    private static let large =
        "POST /large HTTP/1.1\nHost: h\nContent-Length: \(bodyBytes)\n\n"
        + String(repeating: "b", count: bodyBytes)

    /// Clients whose bodies use up the budget for large ones, and do not end.
    private static func fill(_ server: HTTPServer) async throws -> [RawClient] {
        var clients: [RawClient] = []
        for count in 1...4 {
            let client = try await RawClient(port: server.port)
            clients.append(client)
            try await client.send(nearly)
            try await wait(until: count * bodyBytes, areHeldBy: server)
        }
        return clients
    }

    @Test func `endless bodies use no more than their budget, and small ones are unaffected`()
        async throws
    {
        try await withServer(limits: Self.limits) { server in
            var slow = try await Self.fill(server)
            for _ in 0..<8 {
                slow.append(try await RawClient(port: server.port))
                try await slow[slow.count - 1].send(Self.nearly)
            }
            let client = try await RawClient(port: server.port)
            for body in [String(repeating: "c", count: 4_096), "d"] {
                try await client.send(
                    "POST / HTTP/1.1\nHost: h\nContent-Length: \(body.count)\n\n\(body)")
                #expect(try await client.receive().text == "POST \(body)")
            }
            // A body beyond the budget is refused, and the connection stays open.
            for _ in 0..<2 {
                try await client.send(Self.large)
                let refused = try await client.receive()
                #expect(refused.status == 503)
                #expect(refused.text == "overloaded")
            }
            #expect(server.largeBodyBytesHeld == 4 * Self.bodyBytes)
            for client in slow { try await client.close() }
            try await Self.wait(until: 0, areHeldBy: server)
            try await client.send(Self.large)
            #expect(try await client.receive().status == 200)
            try await Self.wait(until: 0, areHeldBy: server)
        }
    }

    @Test func `a body that found no room is refused when it has come, and the next one is not`()
        async throws
    {
        try await withServer(limits: Self.limits) { server in
            let slow = try await Self.fill(server)
            let rest = String(repeating: "a", count: Self.bodyBytes - 60_000)
            let late = try await RawClient(port: server.port)
            try await late.send(Self.nearly)
            try await late.send(rest)
            #expect(try await late.receive().status == 503)
            try await slow[0].send(rest)
            #expect(try await slow[0].receive().status == 200)
            try await late.send(Self.large)
            #expect(try await late.receive().status == 200)
            for client in slow { try await client.close() }
        }
    }

    @Test func `a body is held for as long as its request is handled, and not longer`() async throws
    {
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await gate.pass()
            return HTTPResponse(status: 200, body: Array("\(request.body.count)".utf8))
        }
        try await withServer(limits: Self.limits, handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send(Self.large)
            try await gate.waitForArrivals(1)
            #expect(server.largeBodyBytesHeld == Self.bodyBytes)
            gate.open()
            #expect(try await client.receive().text == "\(Self.bodyBytes)")
            #expect(server.largeBodyBytesHeld == 0)
        }
    }

    private static func wait(until bytes: Int, areHeldBy server: HTTPServer) async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while server.largeBodyBytesHeld != bytes {
            guard ContinuousClock.now < deadline else {
                throw RawClient.Failure.timedOut(waitingFor: "\(bytes) bytes to be held")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
