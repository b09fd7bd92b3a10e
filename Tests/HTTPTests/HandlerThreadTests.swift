import Glibc
import HTTP
import Synchronization
import Testing

private func currentThread() -> UInt {
    UInt(pthread_self())
}

/// The thread of a handler.
@Suite(.timeLimit(.minutes(10)))
struct HandlerThreadTests {
    @Test func `a handler goes on where it began, however often it waits`() async throws {
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            let first = currentThread()
            await gate.pass()
            let second = currentThread()
            await Task.yield()
            let third = currentThread()
            return HTTPResponse(status: first == second && second == third ? 200 : 500)
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            try await gate.waitForArrivals(1)
            gate.open()
            #expect(try await client.receive().status == 200)
        }
    }

    @Test func `a handler's child tasks work while it waits for them`() async throws {
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            let count = await withTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        await gate.pass()
                        return number
                    }
                }
                return await group.reduce(0, +)
            }
            return HTTPResponse(status: 200, body: Array("\(count)".utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            try await gate.waitForArrivals(8)
            gate.open()
            #expect(try await client.receive().text == "28")
        }
    }

    @Test func `a handler that was answered for still runs to its end`() async throws {
        let gate = Gate()
        let ended = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await gate.pass()
            await Task.yield()
            ended.open()
            await ended.pass()
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
        gate.open()
        try await ended.waitForArrivals(1)
    }

    @Test func `the handlers of disconnected clients run to their end`() async throws {
        let clientsCount = 16
        let gates = [Gate(), Gate()]
        let ended = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            for gate in gates { await gate.pass() }
            ended.open()
            await ended.pass()
            return await echo(request)
        }
        try await withServer(handler: handler) { server in
            for number in 1...clientsCount {
                let client = try await RawClient(port: server.port)
                try await client.send("GET / HTTP/1.1\nHost: h\n\n")
                try await gates[0].waitForArrivals(number)
                try await client.close(abort: true)
            }
            for gate in gates { gate.open() }
            try await ended.waitForArrivals(clientsCount, within: .seconds(60))
        }
    }
}
