import HTTP
import Synchronization
import Testing

/// Answers that are produced while they are sent.
@Suite(.timeLimit(.minutes(10)))
struct StreamTests {
    /// A stream that waits for a gate between its parts, and its end.
    private final class Parts: Sendable {
        let gate = Gate()
        let wasTaken = Mutex<[Bool]>([])
        let ended = Gate()

        func response(mayEndEarly: Bool = false) -> HTTPResponse {
            HTTPResponse(
                status: 200, headers: [("Content-Type", "text/plain")], mayEndEarly: mayEndEarly
            ) { stream in
                let first = await stream.write(Array("one.".utf8))
                await self.gate.pass()
                let second = await stream.write(Array("two.".utf8))
                self.wasTaken.withLock { $0 = [first, second] }
                // The test can continue without a waiter.
                self.ended.open()
                await self.ended.pass()
            }
        }
    }

    @Test func `written bytes are sent before the rest exists`() async throws {
        let parts = Parts()
        try await withServer(handler: { _ in parts.response() }) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            let answer = try await client.receive()
            #expect(answer.status == 200)
            #expect(answer["Transfer-Encoding"] == "chunked" && answer["Content-Length"] == nil)
            #expect(try await client.receive(until: "one.") == "4\r\n")
            parts.gate.open()
            #expect(try await client.receive(until: "two.") == "\r\n4\r\n")
            #expect(try await client.receive(until: "0\r\n\r\n") == "\r\n")
            #expect(parts.wasTaken.withLock { $0 } == [true, true])
            // The connection can still be used.
            try await client.send("HEAD / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive(toHead: true).status == 200)
        }
        #expect(parts.gate.count == 1, "nothing is made for HEAD")
    }

    @Test func `a client without chunks gets the bytes and the end of the connection`()
        async throws
    {
        let parts = Parts()
        parts.gate.open()
        try await withServer(handler: { _ in parts.response() }) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.0\n\n")
            #expect(try await client.receive().status == 200)
            #expect(try await client.receiveUntilClosed() == Array("one.two.".utf8))
        }
    }

    @Test func `a body that breaks off has no end`() async throws {
        let response = HTTPResponse(status: 200, headers: [("Content-Type", "text/plain")]) {
            _ = await $0.write(Array("one.".utf8))
            $0.abort()
        }
        try await withServer(handler: { _ in response }) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().status == 200)
            let rest = String(decoding: try await client.receiveUntilClosed(), as: UTF8.self)
            #expect(rest == "4\r\none.\r\n")
        }
    }

    @Test func `a disconnected client ends the stream at the next bytes`() async throws {
        let ended = Gate()
        let tick = Gate()
        try await withServer(handler: { _ in
            HTTPResponse(status: 200, headers: []) { stream in
                await tick.pass()
                while await stream.write(Array("tick.".utf8)) { await Task.yield() }
                ended.open()
                await ended.pass()
            }
        }) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            try await tick.waitForArrivals(1)
            try await client.close(abort: true)
            tick.open()
            try await ended.waitForArrivals(1)
        }
    }

    @Test func `a client that reads nothing delays the writer and is disconnected`()
        async throws
    {
        var limits = HTTPServerLimits()
        limits.responseSendTimeMax = .milliseconds(500)
        limits.requestReceiveTimeMax = .seconds(1)
        let written = Mutex(0)
        let ended = Gate()
        let chunk = [UInt8](repeating: 0x61, count: 65_536)
        try await withServer(
            limits: limits,
            handler: { _ in
                HTTPResponse(status: 200, headers: []) { stream in
                    while await stream.write(chunk) { written.withLock { $0 += chunk.count } }
                    ended.open()
                    await ended.pass()
                }
            }
        ) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            try await ended.waitForArrivals(1)
            // The bytes in the sockets' buffers, a limited number.
            #expect(written.withLock { $0 } < 64 << 20)
            try await client.close()
        }
    }

    @Test func `a stop does not wait for a client that reads nothing`() async throws {
        // This exceeds the sockets' buffers, so the write is delayed.
        let chunk = [UInt8](repeating: 0x61, count: 64 << 20)
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject
        ) { _ in
            HTTPResponse(status: 200, headers: []) { stream in _ = await stream.write(chunk) }
        }
        let client = try await RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\nHost: h\n\n")
        _ = try await client.receive()
        // Far beyond the suite's time limit: only the closed connection can end it earlier.
        await server.stop(grace: .seconds(3_600))
        try await client.close()
    }

    @Test(arguments: [true, false])
    func `a stop ends waiting and new streams at once, some as incomplete`(
        mayEndEarly: Bool
    ) async throws {
        let parts = Parts()
        let held = Gate()
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(), reject: reject
        ) { request in
            if request.path == "/held" { await held.pass() }
            return parts.response(mayEndEarly: mayEndEarly)
        }
        let open = try await RawClient(port: server.port)
        try await open.send("GET / HTTP/1.1\nHost: h\n\n")
        _ = try await open.receive()
        #expect(try await open.receive(until: "one.") == "4\r\n")
        let late = try await RawClient(port: server.port)
        try await late.send("GET /held HTTP/1.1\nHost: h\n\n")
        try await held.waitForArrivals(1)
        let stop = Task { await server.stop(grace: .seconds(60)) }
        let end = mayEndEarly ? "0\r\n\r\n" : ""
        #expect(try await open.receive(until: "\r\n" + end).isEmpty)
        if !mayEndEarly { #expect(try await open.receiveUntilClosed().isEmpty) }
        held.open()
        #expect(try await late.receive().status == 200)
        // Answered during the stop.
        #expect(try await late.receiveUntilClosed() == Array(end.utf8))
        await stop.value
        parts.gate.open()
        #expect(try await open.receiveUntilClosed().isEmpty)
    }
}
