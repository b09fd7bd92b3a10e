import HTTP
import Testing

/// The server under clients that use up its resources.
@Suite(.timeLimit(.minutes(10)))
struct CrowdedServerTests {
    @Test func `a path that is always admitted is answered when no slot is free`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 1
        limits.alwaysAdmittedPaths = ["/healthz"]
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            if request.path == "/held" { await gate.pass() }
            await Task.yield()
            return await echo(request)
        }
        try await withServer(limits: limits, handler: handler) { server in
            let held = try await RawClient(port: server.port)
            try await held.send("GET /held HTTP/1.1\nHost: h\n\n")
            try await gate.waitForArrivals(1)
            let client = try await RawClient(port: server.port)
            for _ in 0..<3 {
                for (target, status) in [("/healthz?a=1", 200), ("/healthz/", 503), ("/", 503)] {
                    try await client.send("GET \(target) HTTP/1.1\nHost: h\n\n")
                    #expect(try await client.receive(target).status == status)
                }
            }
            gate.open()
            #expect(try await held.receive().status == 200)
            // The same connection: on another the slot might not be free yet.
            try await held.send("GET /last HTTP/1.1\nHost: h\n\n")
            #expect(try await held.receive().status == 200)
        }
    }

    @Test func `a request that is always admitted is waited for, too`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 1
        limits.alwaysAdmittedPaths = ["/healthz"]
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await gate.pass()
            return await echo(request)
        }
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: limits, reject: reject, handler: handler)
        let client = try await RawClient(port: server.port)
        try await client.send("GET /healthz HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        await server.stop(grace: .milliseconds(50))
        #expect(try await client.receive().status == 503)
        gate.open()
    }

    @Test func `a request beyond the capacity is refused after a delay`() async throws {
        let delay = Duration.milliseconds(300)
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 1
        limits.refusalDelay = delay
        let gate = Gate()
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: limits, reject: reject,
            handler: { request in
                await gate.pass()
                return await echo(request)
            })
        let held = try await RawClient(port: server.port)
        try await held.send("GET /held HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        let client = try await RawClient(port: server.port)
        for _ in 0..<2 {
            let start = ContinuousClock.now
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().status == 503)
            #expect(ContinuousClock.now - start >= delay)
        }
        await server.stop(grace: .zero)
        #expect(try await held.receive().status == 503)
        gate.open()
    }

    @Test func `a stream that is read slowly is not cut while no slot is free`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 1
        limits.refusalDelay = .milliseconds(300)
        let gate = Gate()
        try await withServer(
            limits: limits,
            handler: { _ in
                HTTPResponse(status: 200, headers: []) { stream in
                    _ = await stream.write(Array("one.".utf8))
                    await gate.pass()
                    _ = await stream.write(Array("two.".utf8))
                }
            }
        ) { server in
            let reader = try await RawClient(port: server.port)
            try await reader.send("GET /export HTTP/1.1\nHost: h\n\n")
            #expect(try await reader.receive(toHead: true).status == 200)
            let client = try await RawClient(port: server.port)
            let start = ContinuousClock.now
            // Longer than a complete answer may be unread.
            while ContinuousClock.now - start < .milliseconds(2_500) {
                try await client.send("GET / HTTP/1.1\nHost: h\n\n")
                #expect(try await client.receive().status == 503)
            }
            gate.open()
            _ = try await reader.receive(until: "two.")
        }
    }

    @Test func `a stop does not wait for requests beyond the capacity`() async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 0
        limits.refusalDelay = .seconds(60)
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: limits, reject: reject, handler: echo)
        let client = try await RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\nHost: h\n\n")
        // It may be waiting by now or not yet have been read; either way the connection ends.
        await server.stop(grace: .zero)
        _ = try await client.receiveUntilClosed()
    }

    @Test(arguments: ["", "G", "GET /drip HTTP/1.1"])
    func `a new connection without a request line is cut early`(beginning: String) async throws {
        var limits = HTTPServerLimits()
        limits.firstRequestLineTimeMax = .milliseconds(200)
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            // The idle limit of 30 seconds can't end it within the client's timeout.
            try await client.sendBytes(Array(beginning.utf8))
            #expect(try await client.receiveUntilClosed().isEmpty)
        }
    }

    @Test func `a connection that has served a request may be silent for longer`() async throws {
        var limits = HTTPServerLimits()
        limits.firstRequestLineTimeMax = .milliseconds(100)
        limits.idleTimeMax = .seconds(600)
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().status == 200)
            // A later connection is closed meanwhile: time has passed for this one as well.
            let later = try await RawClient(port: server.port)
            #expect(try await later.receiveUntilClosed().isEmpty)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().status == 200)
        }
    }

    @Test(arguments: [1, 2])
    func `silent connections do not block others`(threads: Int) async throws {
        var limits = HTTPServerLimits()
        limits.connectionsMax = 8
        limits.threads = threads
        // No connection is closed for being idle, however busy the machine is.
        limits.firstRequestLineTimeMax = .seconds(300)
        limits.idleTimeMax = .seconds(600)
        try await withServer(limits: limits) { server in
            let served = try await RawClient(port: server.port)
            try await served.send("GET /served HTTP/1.1\nHost: h\n\n")
            #expect(try await served.receive().status == 200)
            var silent: [RawClient] = []
            for _ in 0..<50 { silent.append(try await RawClient(port: server.port)) }
            let client = try await RawClient(port: server.port)
            try await client.send("GET /new HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive()["X-Path"] == "/new")
            // Idle connections are closed first.
            try await served.send("GET /again HTTP/1.1\nHost: h\n\n")
            #expect(try await served.receive()["X-Path"] == "/again")
            for client in silent { try await client.close() }
        }
    }

    @Test func `a connection beyond the limit is served when one becomes idle`() async throws {
        var limits = HTTPServerLimits()
        limits.connectionsMax = 2
        limits.idleTimeMax = .seconds(600)
        let gate = Gate()
        try await withServer(limits: limits, handler: echoHolding(at: gate)) { server in
            var held: [RawClient] = []
            for _ in 0..<2 {
                let client = try await RawClient(port: server.port)
                try await client.send("GET /held HTTP/1.1\nHost: h\n\n")
                held.append(client)
            }
            try await gate.waitForArrivals(2)
            let next = try await RawClient(port: server.port)
            try await next.send("GET /next HTTP/1.1\nHost: h\n\n")
            gate.open()
            #expect(try await next.receive("the one that came last")["X-Path"] == "/next")
            for client in held { #expect(try await client.receive()["X-Path"] == "/held") }
        }
    }

    @Test func `idle connections do not block others, and active ones stay`() async throws {
        var limits = HTTPServerLimits()
        limits.connectionsMax = 4
        limits.threads = 1
        limits.idleTimeMax = .seconds(600)
        let gate = Gate()
        try await withServer(limits: limits, handler: echoHolding(at: gate)) { server in
            let held = try await RawClient(port: server.port)
            try await held.send("GET /held HTTP/1.1\nHost: h\n\n")
            try await gate.waitForArrivals(1)
            var resting: [RawClient] = []
            for _ in 0..<10 {
                let client = try await RawClient(port: server.port)
                try await client.send("GET /rests HTTP/1.1\nHost: h\n\n")
                #expect(try await client.receive().status == 200)
                resting.append(client)
            }
            gate.open()
            #expect(try await held.receive()["X-Path"] == "/held")
            for client in resting { try await client.close() }
        }
    }
}
