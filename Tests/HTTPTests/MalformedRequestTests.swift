import HTTP
import Testing

@Suite(.timeLimit(.minutes(10)))
struct MalformedRequestTests {
    @Test(arguments: [
        // Escapes of the query
        "/?a=%", "/?a=%2", "/?a=%zz", "/?%4=1", "/?a=%C3", "/?a=%00", "/?a=%ED%A0%80",
        // Targets
        "a", "/a#b", "/\u{7F}", "/é", "http://", "http:///a", "ftp://h/a", "h:80",
        "/?" + String(repeating: "a&", count: 101),
    ])
    func `a target that can't be understood is malformed`(target: String) async throws {
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send("GET \(target) HTTP/1.1\nHost: h\n\n")
            let answer = try await client.receive()
            #expect(answer.status == 400)
            #expect(answer.text == "malformed")
        }
    }

    @Test(arguments: [
        "X-A: 1", "Host: h\nHost: h", "Host: h\nContent-Length: 3\nContent-Length: 3",
        "Host: h\nTransfer-Encoding:\u{B}chunked",
        "Host: h\nTransfer-Encoding : chunked", "Host: h\nContent-Length : 3", "Host: h\nX@Y: 1",
        "Host: h\n Content-Length: 3", "Host: a b/c", "Host: a/b", "Host: a#b", "Host: u@h",
        "Host: é",
    ])
    func `a header section that two readers could read differently is refused`(
        fields: String
    ) async throws {
        let text = try await Self.answers(
            to: "POST / HTTP/1.1\n\(fields)\n\nabcGET /smuggled HTTP/1.1\nHost: h\n\n")
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        #expect(text.hasSuffix("\r\n\r\nmalformed"))
    }

    @Test(arguments: ["", "a_b-c.example:8080 ", "[2001:db8::1%25e]:80", "a%C3%A9,b"])
    func `a host may have a port, and may be empty`(host: String) async throws {
        let text = try await Self.answers(
            to: "GET / HTTP/1.1\nHost: \(host)\nConnection: close\n\n")
        #expect(text.hasPrefix("HTTP/1.1 200 "))
    }

    @Test(arguments: ["/a\u{0}b", "/a\u{0}", "/a b", " /a", "/a "])
    func `a target with a gap is malformed`(target: String) async throws {
        let text = try await Self.answers(to: "GET \(target) HTTP/1.1\nHost: h\n\n")
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        #expect(text.hasSuffix("\r\n\r\nmalformed"))
    }

    @Test(arguments: [
        "\u{0}\u{1}\u{2}\n\n", "GET\n\n", "GET /\n\n", "GET / HTTP/9.9\nHost: h\n\n", "  \n\n",
        "GET / HTTP/1.1\nHost: h\nno colon\n\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
        "POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\nzz\n\n",
        "POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n-3\nabc\n0\n\n",
        "POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n3\nabcX\n0\n\n",
        "POST / HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\nffffffffffffffffff\nabc",
    ])
    func `garbage never succeeds and harms no other client`(
        rubbish: String
    ) async throws {
        try await withServer { server in
            // It has sent a request, because an unused connection is closed after a while.
            let other = try await RawClient(port: server.port)
            try await other.send("GET /before HTTP/1.1\nHost: h\n\n")
            #expect(try await other.receive()["X-Path"] == "/before")
            let client = try await RawClient(port: server.port)
            try await client.send(rubbish)
            try await client.send("GET / HTTP/1.1\nConnection: close\n\n")
            let bytes = try await client.receiveUntilClosed()
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.hasPrefix("HTTP/1.1 2"), "\(text)")
            try await other.send("GET /fine HTTP/1.1\nHost: h\n\n")
            #expect(try await other.receive()["X-Path"] == "/fine")
        }
    }

    /// All bytes that the server sends before it closes the connection.
    private static func answers(to request: String) async throws -> String {
        var text = ""
        try await withServer { server in
            let client = try await RawClient(port: server.port)
            try await client.send(request)
            text = String(decoding: try await client.receiveUntilClosed(), as: UTF8.self)
        }
        return text
    }
}
