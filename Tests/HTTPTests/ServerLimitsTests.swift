import HTTP
import Sockets
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ServerLimitsTests {
    static var small: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.bodyBytesMax = 1000
        limits.headerBytesMax = 2000
        limits.headerCountMax = 20
        return limits
    }

    @Test func `a body of just the limit is taken`() async throws {
        try await withServer(limits: Self.small) { server in
            let body = String(repeating: "a", count: 1000)
            let client = try await RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\nHost: h\nContent-Length: 1000\n\n\(body)")
            #expect(try await client.receive().text == "POST \(body)")
        }
    }

    @Test(arguments: ["1001", "99999999", "9223372036854775808"])
    func `a length over the limit is answered before the body is sent`(
        length: String
    ) async throws {
        try await withServer(limits: Self.small) { server in
            let client = try await RawClient(port: server.port)
            try await client.send(
                "POST / HTTP/1.1\nHost: h\nExpect: 100-continue\nContent-Length: \(length)\n\n")
            let answer = try await client.receive()
            #expect(answer.status == 413)
            #expect(answer.text == "bodyTooLarge")
            #expect(answer["Connection"] == "close")
            #expect(try await client.receiveUntilClosed().isEmpty)
        }
    }

    @Test(arguments: ["Transfer-Encoding: chunked", "Content-Length: 500000"])
    func `a client that sends before it reads still gets the refusal`(
        framing: String
    ) async throws {
        var limits = Self.small
        limits.lingerTimeMax = .seconds(120)
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\nHost: h\n\(framing)\n\n")
            let answer = try await client.receive()
            #expect(answer.status == (framing.hasSuffix("chunked") ? 411 : 413))
            // The server's end is closed; further bytes would reset the connection.
            #expect(try await client.receiveUntilClosed().isEmpty)
            for _ in 0..<10 {
                try await client.sendBytes(Array(repeating: 0x61, count: 50_000))
            }
        }
    }

    @Test func `a client that never stops sending is cut`() async throws {
        try await withServer(limits: Self.small) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n")
            let chunk = "10000\n" + String(repeating: "a", count: 65_536) + "\n"
            // The socket's buffers may accept some; a server that continued to read would accept all.
            await #expect(throws: SocketError.self) {
                for _ in 0..<1000 { try await client.send(chunk) }
            }
        }
    }

    @Test(arguments: [2000, 3000, 9000])
    func `a header section over the limit is answered`(size: Int) async throws {
        try await withServer(limits: Self.small) { server in
            let client = try await RawClient(port: server.port)
            let value = String(repeating: "a", count: size)
            try await client.send("GET / HTTP/1.1\nHost: h\nX-A: \(value)\n\n")
            #expect(try await client.receive().status == 431)
            _ = try await client.receiveUntilClosed()
        }
    }

    @Test func `a header section without end is answered by the time it fills the memory`()
        async throws
    {
        try await withServer(limits: Self.small) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\nX-A: ")
            try await client.sendBytes(Array(repeating: 0x61, count: 40_000))
            #expect(try await client.receive().status == 431)
        }
    }

    @Test func `too many header fields are answered`() async throws {
        try await withServer(limits: Self.small) { server in
            let client = try await RawClient(port: server.port)
            let fields = String(repeating: "X-A: 1\n", count: 20)
            try await client.send("GET / HTTP/1.1\nHost: h\n\(fields)\n")
            let answer = try await client.receive()
            #expect(answer.status == 431)
            #expect(answer.text == "headersTooLarge")
        }
    }

    @Test func `more requests in flight than the limit are answered as overloaded`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 2
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await gate.pass()
            return await echo(request)
        }
        try await withServer(limits: limits, handler: handler) { server in
            let held = [
                try await RawClient(port: server.port), try await RawClient(port: server.port),
            ]
            for client in held { try await client.send("GET /held HTTP/1.1\nHost: h\n\n") }
            try await gate.waitForArrivals(2)
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            let refused = try await client.receive()
            #expect(refused.status == 503)
            #expect(refused.text == "overloaded")
            gate.open()
            for client in held { #expect(try await client.receive().status == 200) }
        }
    }

    @Test func `clients that read no answer leave slots to others`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 2
        limits.refusalDelay = .milliseconds(20)
        // Nothing else ends a connection within the test.
        limits.idleTimeMax = .seconds(600)
        limits.responseSendTimeMax = .seconds(600)
        // This exceeds the sockets' buffers.
        let large = [UInt8](repeating: 0x61, count: 16 << 20)
        let gate = Gate()
        gate.open()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            guard request.path == "/large" else { return await echo(request) }
            await gate.pass()
            return HTTPResponse(status: 200, body: large)
        }
        try await withServer(limits: limits, handler: handler) { server in
            let silent = [
                try await RawClient(port: server.port), try await RawClient(port: server.port),
            ]
            for client in silent { try await client.send("GET /large HTTP/1.1\nHost: h\n\n") }
            try await gate.waitForArrivals(2)
            let client = try await RawClient(port: server.port)
            let deadline = ContinuousClock.now + .seconds(60)
            var status = 503
            while status == 503, ContinuousClock.now < deadline {
                try await client.send("GET / HTTP/1.1\nHost: h\n\n")
                status = try await client.receive().status
            }
            #expect(status == 200)
            for client in silent { try await client.close() }
        }
    }

    @Test(arguments: [
        ("Content-Length: 1001", 413), ("X-A: \(String(repeating: "a", count: 3000))", 431),
        ("Content-Length: 1", 503), ("Expect: x", 417),
        ("Transfer-Encoding: chunked", 411), ("X@A: 1", 400), ("Content-Length: +1", 400),
    ])
    func `the renderer of a rejection gets the header fields`(
        field: String, status: Int
    ) async throws {
        var limits = Self.small
        limits.requestsInFlightMax = 0
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("POST / HTTP/1.1\nHost: h\nX-Name: me\n\(field)\n\n")
            if status == 503 { try await client.send("a") }
            let answer = try await client.receive()
            #expect(answer.status == status)
            #expect(answer["X-Name"] == "me")
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\nHost: h\nX-A: drip",
        "POST / HTTP/1.1\nHost: h\nContent-Length: 10\n\nabc",
    ])
    func `a request that takes too long to arrive is cut`(beginning: String) async throws {
        var limits = HTTPServerLimits()
        limits.requestReceiveTimeMax = .milliseconds(200)
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            // The idle limit of 30 seconds can't end it within the client's timeout.
            try await client.send(beginning)
            #expect(try await client.receiveUntilClosed().isEmpty)
        }
    }

    @Test func `a handler may take longer than a request may take to arrive`() async throws {
        var limits = HTTPServerLimits()
        limits.requestReceiveTimeMax = .milliseconds(100)
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            // The passing of time is tested: the handler outlasts the limit and the interval of its check.
            try? await Task.sleep(for: .milliseconds(500))
            return await echo(request)
        }
        try await withServer(limits: limits, handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().status == 200)
        }
    }
}
