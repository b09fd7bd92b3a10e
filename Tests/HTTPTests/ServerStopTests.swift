import Glibc
import HTTP
import Sockets
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ServerStopTests {
    @Test func `a stop lets requests in flight finish and refuses new connections`() async throws {
        let gate = Gate()
        let server = try Self.gatedServer(gate)
        let client = try await RawClient(port: server.port)
        try await client.send("GET /last HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        let stop = Task { await server.stop(grace: .seconds(20)) }
        try await Self.waitUntilRefused(port: server.port)
        gate.open()
        let answer = try await client.receive()
        #expect(answer["X-Path"] == "/last")
        #expect(answer["Connection"] == "close")
        await stop.value
        #expect(try await client.receiveUntilClosed().isEmpty)
    }

    @Test func `an open connection is served while the server drains, and closed`() async throws {
        let gate = Gate()
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject,
            handler: echoHolding(at: gate)
        )
        let held = try await RawClient(port: server.port)
        let other = try await RawClient(port: server.port)
        try await other.send("GET /first HTTP/1.1\nHost: h\n\n")
        #expect(try await other.receive()["Connection"] != "close")
        try await held.send("GET /held HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        let stop = Task { await server.stop(grace: .seconds(20)) }
        try await Self.waitUntilRefused(port: server.port)
        try await other.send("GET /second HTTP/1.1\nHost: h\n\n")
        #expect(try await other.receive()["Connection"] == "close")
        gate.open()
        #expect(try await held.receive().status == 200)
        await stop.value
    }

    @Test func `a handler that outlasts the grace time is cancelled and answered for`() async throws
    {
        let gate = Gate()
        let wasCancelled = Mutex(false)
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                wasCancelled.withLock { $0 = true }
            }
            return await echo(request)
        }
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject, handler: handler
        )
        let client = try await RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        await server.stop(grace: .milliseconds(50))
        #expect(try await client.receive().status == 503)
        #expect(wasCancelled.withLock { $0 })
        // The handler's own answer is too late: the connection is closed.
        gate.open()
    }

    @Test func `stopping again waits for the same end`() async throws {
        let gate = Gate()
        let server = try Self.gatedServer(gate)
        let client = try await RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\nHost: h\n\n")
        try await gate.waitForArrivals(1)
        await withDiscardingTaskGroup { group in
            for _ in 0..<4 { group.addTask { await server.stop(grace: .seconds(20)) } }
            gate.open()
        }
        await server.stop(grace: .seconds(20))
        #expect(try await client.receive().status == 200)
        #expect(try await client.receiveUntilClosed().isEmpty)
    }

    @Test func `a body on its way is taken until the grace time is over`() async throws {
        let (server, client) = try await Self.serverThatReceives("Content-Length: 5")
        try await client.send("ab")
        let stop = Task { await server.stop(grace: .seconds(20)) }
        try await Self.waitUntilRefused(port: server.port)
        try await client.send("cde")
        let answer = try await client.receive()
        #expect(answer.text == "POST abcde")
        #expect(answer["Connection"] == "close")
        await stop.value
        #expect(try await client.receiveUntilClosed().isEmpty)
    }

    @Test func `a body that doesn't come delays the stop by the grace time only`() async throws {
        let (server, client) = try await Self.serverThatReceives("Content-Length: 5")
        try await client.send("ab")
        let time = await ContinuousClock().measure { await server.stop(grace: .milliseconds(500)) }
        #expect(time >= .milliseconds(500))
        #expect(try await client.receiveUntilClosed().isEmpty)
    }

    @Test func `a client that leaves during its body delays no stop`() async throws {
        let (server, client) = try await Self.serverThatReceives("Content-Length: 5")
        try await client.close()
        await server.stop(grace: Self.longGrace)
    }

    @Test(arguments: ["", "POST / HTTP/1.1\nHost: h\nContent-Length: 5\n"])
    func `an idle connection doesn't delay the stop`(beginning: String) async throws {
        let server = try Self.echoServer(limits: Self.patient)
        let client = try await RawClient(port: server.port)
        try await client.send(beginning)
        await server.stop(grace: Self.longGrace)
        #expect(try await client.receiveUntilClosed().isEmpty)
    }

    @Test func `the port is free again when the server has stopped`() async throws {
        // A free port can be taken before it is requested again, but not repeatedly.
        for attempt in 1...10 {
            let first = try Self.gatedServer(Gate())
            let port = first.port
            let client = try await RawClient(port: port)
            #expect(throws: HTTPServerError.addressInUse) { _ = try Self.echoServer(port: port) }
            await first.stop(grace: .zero)
            do {
                let second = try Self.echoServer(port: port)
                #expect(second.port == port)
                #expect(try await client.receiveUntilClosed().isEmpty)
                await second.stop(grace: .zero)
                return
            } catch HTTPServerError.addressInUse where attempt < 10 {
                continue
            }
        }
    }

    @Test(arguments: ["", "localhost", "256.1.1.1", "203.0.113.7", "[::1]", "::1%lo"])
    func `a host that is no address of this machine is refused`(host: String) {
        #expect(throws: HTTPServerError.addressInvalid) {
            _ = try HTTPServer(
                host: host, port: 0, limits: HTTPServerLimits(), reject: reject, handler: echo)
        }
    }

    @Test(arguments: ["127.0.0.1", "0.0.0.0", "::"])
    func `a server listens on the configured address`(host: String) async throws {
        let server = try HTTPServer(
            host: host, port: 0, limits: HTTPServerLimits(), reject: reject,
            handler: { HTTPResponse(status: 200, body: Array($0.peerAddress.utf8)) })
        let client = try await RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\nHost: h\n\n")
        #expect(try await client.receive().text == "127.0.0.1")
        await server.stop(grace: .seconds(5))
    }

    @Test(arguments: [false, true])
    func `a client that leaves before its answer releases its slot`(abort: Bool) async throws {
        var limits = HTTPServerLimits()
        limits.requestsInFlightMax = 1
        let gate = Gate()
        try await withServer(limits: limits, handler: echoHolding(at: gate)) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET /held HTTP/1.1\nHost: h\n\n")
            try await gate.waitForArrivals(1)
            try await client.close(abort: abort)
            gate.open()
            let deadline = ContinuousClock.now + .seconds(10)
            var status = 503
            while status == 503, ContinuousClock.now < deadline {
                let next = try await RawClient(port: server.port)
                try await next.send("GET /next HTTP/1.1\nHost: h\n\n")
                status = try await next.receive().status
            }
            #expect(status == 200, "the place of the client that left was not given back")
        }
    }

    @Test(arguments: [Duration.zero, .seconds(5)])
    func `a server under load stops without harm, again and again`(grace: Duration) async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            // Half of the requests are answered immediately, half are suspended first.
            if request.path.hasSuffix("1") { await Task.yield() }
            return await echo(request)
        }
        for _ in 0..<10 {
            let server = try HTTPServer(
                host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject,
                handler: handler)
            let gate = Gate()
            let port = server.port
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<8 { group.addTask { try await Self.hammer(port: port, gate) } }
                try await gate.waitForArrivals(8)
                gate.open()
                await server.stop(grace: grace)
            }
        }
    }

    /// Sends pairs of requests until the server ends the connection.
    private static func hammer(port: UInt16, _ gate: Gate) async throws {
        let client = try await RawClient(port: port)
        try await client.send("GET /0 HTTP/1.1\nHost: h\n\n")
        #expect(try await client.receive().status == 200)
        await gate.pass()
        do {
            while true {
                try await client.send("GET /0 HTTP/1.1\nHost: h\n\nGET /1 HTTP/1.1\nHost: h\n\n")
                for _ in 0..<2 {
                    let status = try await client.receive().status
                    #expect(status == 200 || status == 503)
                }
            }
        } catch RawClient.Failure.closed {
        } catch let error as SocketError where error.call == "send" {
        }
    }

    /// A server that has read the header section of a request, and the client that sent it.
    private static func serverThatReceives(
        _ framing: String
    ) async throws -> (HTTPServer, RawClient) {
        let server = try echoServer(limits: patient)
        let client = try await RawClient(port: server.port)
        try await client.send("POST / HTTP/1.1\nHost: h\nExpect: 100-continue\n\(framing)\n\n")
        #expect(try await client.receive("the word to continue").status == 100)
        return (server, client)
    }

    /// Longer than the time limit of a test: a stop that waits for its end fails.
    private static let longGrace = Duration.seconds(900)

    /// The limits of a server that ends no connection by itself within a test.
    private static var patient: HTTPServerLimits {
        var limits = HTTPServerLimits()
        limits.firstRequestLineTimeMax = .seconds(3600)
        limits.idleTimeMax = .seconds(3600)
        limits.requestReceiveTimeMax = .seconds(3600)
        return limits
    }

    private static func echoServer(
        port: UInt16 = 0, limits: HTTPServerLimits = HTTPServerLimits()
    ) throws(HTTPServerError) -> HTTPServer {
        try HTTPServer(
            host: "127.0.0.1", port: port, limits: limits, reject: reject, handler: echo)
    }

    private static func gatedServer(_ gate: Gate) throws -> HTTPServer {
        try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject,
            handler: { request in
                await gate.pass()
                return await echo(request)
            })
    }

    /// Connects repeatedly until the system refuses.
    private static func waitUntilRefused(port: UInt16) async throws {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            do {
                try await RawClient(port: port).close()
            } catch let error as SocketError where error.code == ECONNREFUSED {
                return
            } catch let error as SocketError where error.code == ECONNRESET {
                // It waited to be accepted when the server stopped listening.
            }
        }
        throw Gate.TimedOut(waitingFor: "new connections to be refused")
    }
}
