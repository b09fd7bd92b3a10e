import HTTP
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ServerTests {
    @Test func `a request is answered with what the handler gave`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send(
                "POST /a%2Fb?x=1&y=%C3%A9+ HTTP/1.1\nHost: h\nContent-Length: 3\n\nabc")
            let answer = try await client.receive()
            #expect(answer.status == 200)
            #expect(answer.text == "POST abc")
            #expect(answer["X-Path"] == "/a%2Fb")
            #expect(answer["X-Query"] == "x=1|y=é+")
            #expect(answer["Content-Length"] == "8")
            #expect(answer["Date"] != nil)
        }
    }

    @Test func `the target is handed over as it came`() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            HTTPResponse(status: 200, body: Array("\(request.target) \(request.peerAddress)".utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET /%61/../b?q=%25 HTTP/1.1\nHost: h\n\n")
            #expect(try await client.receive().text == "/%61/../b?q=%25 127.0.0.1")
        }
    }

    @Test func `a connection serves one request after another`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            for number in 1...20 {
                try await client.send("GET /\(number) HTTP/1.1\nHost: h\n\n")
                #expect(try await client.receive()["X-Path"] == "/\(number)")
            }
        }
    }

    @Test func `pipelined requests are answered in order, suspended or not`() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            if request.path.hasSuffix("2") { await Task.yield() }
            return await echo(request)
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            let bodies = (1...12).map { number in
                "POST /\(number) HTTP/1.1\nHost: h\nContent-Length: 2\n\n\(number % 10)x"
            }
            try await client.send(bodies.joined())
            for number in 1...12 {
                let answer = try await client.receive("answer \(number)")
                #expect(answer["X-Path"] == "/\(number)")
                #expect(answer.text == "POST \(number % 10)x")
            }
        }
    }

    @Test func `suspended requests wait side by side`() async throws {
        let gate = Gate()
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            await gate.pass()
            return await echo(request)
        }
        try await withServer(handler: handler) { server in
            var clients: [RawClient] = []
            for number in 0..<50 {
                let client = try await RawClient(port: server.port)
                try await client.send("GET /\(number) HTTP/1.1\nHost: h\n\n")
                clients.append(client)
            }
            try await gate.waitForArrivals(50)
            gate.open()
            for (number, client) in clients.enumerated() {
                #expect(try await client.receive()["X-Path"] == "/\(number)")
            }
        }
    }

    @Test func `a HEAD request gets the header of the GET request and no body`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send("HEAD /a HTTP/1.1\nHost: h\n\nGET /b HTTP/1.1\nHost: h\n\n")
            let head = try await client.receive(toHead: true)
            #expect(head.status == 200)
            #expect(head["Content-Length"] == "5")
            #expect(try await client.receive()["X-Path"] == "/b")
        }
    }

    @Test(arguments: [(204, nil), (304, "4")] as [(Int, String?)])
    func `an answer that can have no body has none`(status: Int, length: String?) async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            HTTPResponse(status: request.path == "/a" ? status : 200, body: Array("body".utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET /a HTTP/1.1\nHost: h\n\nGET /b HTTP/1.1\nHost: h\n\n")
            let answer = try await client.receive()
            #expect(answer.status == status && answer["Content-Length"] == length)
            #expect(try await client.receive().text == "body")
        }
    }

    @Test func `every value of a repeated field is kept`() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            let values = request.headers.all("x-a").joined(separator: "|")
            return HTTPResponse(
                status: 200, body: Array("\(values) first \(request.headers["X-A"] ?? "")".utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\nX-A: 1\nx-a: 2, 3\nX-B: no\nX-A: 4\n\n")
            #expect(try await client.receive().text == "1|2, 3|4 first 1")
        }
    }

    @Test func `cookies are read by their field, which the parser does not see`() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
            HTTPResponse(
                status: 200, body: Array(request.headers.all("Cookie").joined(separator: "|").utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send(
                "GET / HTTP/1.1\nHost: h\nCookie: a=1; b=2\ncookie: c=3\nCookies: d\n\n")
            #expect(try await client.receive().text == "a=1; b=2|c=3")
        }
    }

    @Test func `a header value can't split the answer`() async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(
                status: 200,
                headers: [
                    ("X-A", "1\r\nX-Evil: 2\r\n\r\nHTTP/1.1 200 OK"), ("X-B\r\nX-Evil", "3"),
                    ("X-C", "4\u{0}5\n6"), ("Content-Length", "0"),
                    ("Transfer-Encoding", "chunked"),
                    ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"),
                ], body: Array("body".utf8))
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            let answer = try await client.receive()
            #expect(answer.text == "body")
            #expect(answer["X-Evil"] == nil)
            #expect(answer["X-A"] == "1  X-Evil: 2    HTTP/1.1 200 OK")
            #expect(answer["X-C"] == "4 5 6")
            #expect(answer["Transfer-Encoding"] == nil)
            #expect(answer.fields.filter { $0.name == "Set-Cookie" }.count == 2)
        }
    }

    @Test(arguments: [0, 101, 199, 600, -1])
    func `a status that ends no request is an internal failure`(status: Int) async throws {
        let handler: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(status: status)
        }
        try await withServer(handler: handler) { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET / HTTP/1.1\nHost: h\n\n")
            let answer = try await client.receive()
            #expect(answer.status == 500)
            #expect(answer.text == "internalFailure")
        }
    }

    @Test func `a client that expects 100-continue gets it`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send(
                "POST / HTTP/1.1\nHost: h\nExpect: 100-continue\nContent-Length: 3\n\n")
            #expect(try await client.receive("the word to continue").status == 100)
            try await client.send("abc")
            #expect(try await client.receive().text == "POST abc")
        }
    }

    @Test func `an HTTP 1.0 client is answered and its connection closed`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET /old HTTP/1.0\n\n")
            let answer = try await client.receiveUntilClosed()
            #expect(String(decoding: answer, as: UTF8.self).hasSuffix("\r\n\r\nGET "))
        }
    }
}
