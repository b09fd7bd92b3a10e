import HTTP
import Testing

/// Header sections that two parsers could read as different fields.
@Suite(.timeLimit(.minutes(10)))
struct HeaderSectionTests {
    @Test(arguments: [
        "Authorization: Bearer good\u{0}junk", "Idempotency-Key: k\u{0}one", "X-A: \u{0}",
        "X-A:\u{0}", "X-A: 1\u{0}\u{0}", "X-A: 1\u{0}\u{0}X-B: 2", "X-A: 1\u{0}2\r",
        "X-A: \u{0} \u{0}", "Content-Length: 3\u{0}0", "Transfer-Encoding: chunked\u{0}",
        "X-A: 1\u{0}2\nX-B: 2",
    ])
    func `a NUL in a value hides nothing`(field: String) async throws {
        for section in ["\(field)\r\nHost: h\r\n", "Host: h\r\n\(field)\r\n"] {
            try await expectMalformed("POST / HTTP/1.1\r\n\(section)\r\n")
        }
    }

    @Test(arguments: [
        // Lines that end with a bare LF or a bare CR
        "GET / HTTP/1.1\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\n\n", "GET / HTTP/1.1\nHost: h\n\n",
        "GET / HTTP/1.1\rHost: h\r\n\r\n", "GET / HTTP/1.1\r\nX-A: 1\rHost: h\r\n\r\n",
        // Obsolete line folding
        "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n 2\r\n\r\n",
        "GET / HTTP/1.1\r\nX-A: 1\r\n\t2\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nX-A:\r\n 2\r\nHost: h\r\n\r\n",
        // A field without a name
        "GET / HTTP/1.1\r\nHost: h\r\n: 1\r\n\r\n", "GET / HTTP/1.1\r\n:\r\nHost: h\r\n\r\n",
        // A NUL in the request line
        "GET / HTTP/1.1\u{0}\r\nHost: h\r\n\r\n", "G\u{0}T / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET\u{0} / HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
    func `a section that is not lines of fields is malformed`(request: String) async throws {
        try await expectMalformed(request)
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a HTTP/1.1\r\nHost:h\r\nX-A:\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: \t h \t\r\nX-A:  \r\nX-B: a b:c\r\n\r\n",
        "GET /a?b=c&d HTTP/1.1\r\nHost: h\r\nCookie: a=b; c=\"d\"; e\r\nX-A: \u{e9}\r\n\r\n",
        // RFC 9112 section 2.2: an empty line before the request is ignored
        "\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n",
    ])
    func `a section of lines of fields is taken`(request: String) async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            for _ in 0..<3 {
                try await client.sendBytes(Array(request.utf8))
                let answer = try await client.receive()
                #expect(answer.status == 200)
                #expect(answer["X-Path"] == "/a")
            }
        }
    }

    @Test func `a long section in chunks is accepted`() async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            let fields = (0..<60).map { "X-\($0): \(String(repeating: "v", count: 200))\r\n" }
            let request = Array("GET /a HTTP/1.1\r\nHost: h\r\n\(fields.joined())\r\n".utf8)
            for size in [request.count, 1000, 333] {
                var rest = request[...]
                while !rest.isEmpty {
                    try await client.sendBytes(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                #expect(try await client.receive().status == 200)
            }
        }
    }

    /// libmicrohttpd stores a whole head in one block of memory, with records of each field and of each pair of
    /// the query; all heads that `RequestScanner` passes must fit.
    @Test(arguments: [(1, 0), (63, 0), (64, 0), (100, 0), (2, 100), (40, 60), (100, 90)])
    func `the largest allowed head is answered, and one byte more is refused`(
        fields: Int, pairs: Int
    ) async throws {
        let limits = HTTPServerLimits()
        let bytesMax = min(
            limits.headerBytesMax, limits.headerBytesMax + 1_024 - 64 * (fields + pairs))
        let query =
            pairs == 0 ? "" : "?" + Array(repeating: "a", count: pairs).joined(separator: "&")
        let start =
            "POST /\(query) HTTP/1.1\r\n" + String(repeating: "a:\r\n", count: max(0, fields - 1))
            + "Host: "
        let end = "\r\n\r\n"
        func request(_ count: Int) -> [UInt8] {
            let value = String(repeating: "h", count: count - start.utf8.count - end.utf8.count)
            return Array((start + value + end).utf8)
        }
        try await withServer(limits: limits) { server in
            let client = try await RawClient(port: server.port)
            let large = request(bytesMax)
            for _ in 0..<2 {
                try await client.sendBytes(large)
                #expect(try await client.receive().status == 200)
            }
            try await client.sendBytes(request(bytesMax + 1))
            #expect(try await client.receive().status == 431)
            // Followed by others, it may be too large; the refusal is the usual one.
            let crowd = try await RawClient(port: server.port)
            let last = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            try await crowd.sendBytes(large + large + large + Array(last.utf8))
            let text = String(decoding: try await crowd.receiveUntilClosed(), as: UTF8.self)
            let ours = ["\r\n\r\nPOST ", "\r\n\r\nGET ", "\r\n\r\nheadersTooLarge"]
            let count = ours.reduce(0) { $0 + text.ranges(of: $1).count }
            #expect(count > 0 && text.ranges(of: "HTTP/1.1 ").count == count, "\(text)")
        }
    }

    @Test(arguments: ["100-continue", "100-CONTINUE", ""])
    func `an expectation that can be met is met`(expectation: String) async throws {
        #expect(try await status(expecting: expectation) == 200)
    }

    @Test(arguments: ["200-ok", "100-continue, x", "x", "100-continue\r\nExpect: x"])
    func `an unknown expectation is refused`(expectation: String) async throws {
        #expect(try await status(expecting: expectation) == 417)
    }

    private func status(expecting expectation: String) async throws -> Int {
        var status = 100
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            let field = expectation.isEmpty ? "" : "Expect: \(expectation)\r\n"
            try await client.sendBytes(
                Array("POST / HTTP/1.1\r\nHost: h\r\n\(field)Content-Length: 1\r\n\r\na".utf8))
            while status == 100 { status = try await client.receive().status }
        }
        return status
    }

    private func expectMalformed(_ request: String) async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.sendBytes(Array(request.utf8))
            let text = String(decoding: try await client.receiveUntilClosed(), as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 400 "), "\(text)")
        }
    }
}
