import LoopbackServers
import Testing

@testable import Cryptography
@testable import HTTPClient
@testable import OpenID

/// Fetches over real sockets on 127.0.0.1, from correct and incorrect servers.
@Suite(.timeLimit(.minutes(10))) struct JWKSFetcherTests {
    private static let document = #"{"keys":[]}"#

    private func answer(
        status: String = "200 OK", headers: [String] = [], body: String = document
    ) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"]
            + headers
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private func fetched(
        _ server: LoopbackServer, limit: Duration = .seconds(5)
    ) async throws -> FetchedKeySet {
        try await JWKSFetcher(timeLimit: limit).fetch("http://127.0.0.1:\(server.port)/keys")
    }

    @Test func `a document and its maximum age are fetched`() async throws {
        let server = try LoopbackServer(
            answer: answer(headers: ["Cache-Control: public, max-age=1234, must-revalidate"]))
        let fetched = try await fetched(server)
        #expect(fetched.body == Array(Self.document.utf8))
        #expect(fetched.maxAgeSeconds == 1_234)
        #expect(server.requests == 1)
    }

    @Test func `a cache over a real socket finds the provider's key`() async throws {
        let key = TokenSigningKey.generate()
        let server = try LoopbackServer(answer: answer(body: #"{"keys":[\#(key.publicJWK)]}"#))
        let cache = KeySetCache(url: "http://127.0.0.1:\(server.port)/keys")
        #expect(try await cache.keys(forKeyID: key.keyID).contains(id: key.keyID))
    }

    @Test(arguments: ["204 No Content", "304 Not Modified", "404 Not Found", "500 Oops"])
    func `every status but 200 is refused`(status: String) async throws {
        let server = try LoopbackServer(answer: answer(status: status))
        await #expect(throws: JWKSFetchFault.refusedStatus) { try await fetched(server) }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is not followed`(status: Int) async throws {
        let target = try LoopbackServer(answer: answer())
        let server = try LoopbackServer(
            answer: answer(
                status: "\(status) Elsewhere",
                headers: ["Location: http://127.0.0.1:\(target.port)/keys"]))
        await #expect(throws: JWKSFetchFault.refusedStatus) { try await fetched(server) }
        #expect(target.requests == 0)
    }

    @Test func `a redirect to nowhere is refused, whatever its body`() async throws {
        let server = try LoopbackServer(answer: answer(status: "302 Found"))
        await #expect(throws: JWKSFetchFault.refusedStatus) { try await fetched(server) }
    }

    @Test func `a document at the size limit is fetched and a larger one is not`() async throws {
        let room = String(repeating: " ", count: KeySet.documentBytesMax)
        let fitting = try LoopbackServer(answer: answer(body: room))
        #expect(try await fetched(fitting).body.count == KeySet.documentBytesMax)
        let large = try LoopbackServer(answer: answer(body: room + " "))
        await #expect(throws: JWKSFetchFault.tooLarge) { try await fetched(large) }
    }

    @Test func `a document without end is broken off`() async throws {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        let body = String(repeating: "x", count: 4 * KeySet.documentBytesMax)
        let server = try LoopbackServer(answer: Array((head + body).utf8), closes: false)
        await #expect(throws: JWKSFetchFault.tooLarge) { try await fetched(server) }
    }

    @Test(arguments: ["Content-Length: 1048576", "Transfer-Encoding: chunked"])
    func `a document without end is broken off, however it is framed`(framing: String) async throws
    {
        let head = "HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n"
        let isChunked = framing.hasSuffix("chunked")
        let chunk = (isChunked ? "1000\r\n" : "") + String(repeating: "x", count: 4_096)
        let body = String(repeating: chunk + (isChunked ? "\r\n" : ""), count: 256)
        let server = try LoopbackServer(answer: Array((head + body).utf8), closes: false)
        await #expect(throws: JWKSFetchFault.tooLarge) { try await fetched(server) }
    }

    @Test(arguments: ["X-Room: x\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
    func `a head without end is broken off`(chunk: String) async throws {
        let head = (chunk.hasPrefix("HTTP") ? "" : "HTTP/1.1 200 OK\r\n")
        let text = head + String(repeating: chunk, count: Transfer.headBytesMax / 8)
        let server = try LoopbackServer(answer: Array(text.utf8), closes: false)
        await #expect(throws: JWKSFetchFault.tooLarge) { try await fetched(server) }
    }

    @Test func `an answer after an informational one is taken`() async throws {
        let hint = Array("HTTP/1.1 103 Early Hints\r\nCache-Control: max-age=1\r\n\r\n".utf8)
        let server = try LoopbackServer(
            answer: hint + answer(headers: ["Cache-Control: max-age=9"]))
        #expect(try await fetched(server).maxAgeSeconds == 9)
    }

    @Test func `a request identifies the client and sends nothing else`() async throws {
        let server = try LoopbackServer(answer: answer())
        _ = try await fetched(server)
        #expect(
            server.requestHeads == [
                """
                GET /keys HTTP/1.1\r
                Host: 127.0.0.1:\(server.port)\r
                User-Agent: account-ledger\r
                Accept: application/json\r
                \r

                """
            ])
    }

    @Test(arguments: ["404 Not Found", "302 Found"])
    func `a refused status does not wait for its body`(status: String) async throws {
        let head = "HTTP/1.1 \(status)\r\nContent-Length: 1048576\r\n\r\n"
        let server = try LoopbackServer(answer: Array(head.utf8), closes: false)
        await #expect(throws: JWKSFetchFault.refusedStatus) { try await fetched(server) }
    }

    @Test(arguments: [0, 3_000])
    func `a server that drips is given up at the limit`(headBytes: Int) async throws {
        // Sent as a whole it would be accepted; byte by byte it takes half a minute.
        let room = String(repeating: "x", count: headBytes)
        let whole = answer(
            headers: ["X-Room: \(room)"], body: String(repeating: " ", count: 3_000 - headBytes))
        #expect(try await fetched(LoopbackServer(answer: whole)).maxAgeSeconds == nil)
        let server = try LoopbackServer(answer: whole, dripMilliseconds: 10)
        await #expect(throws: JWKSFetchFault.timedOut) {
            try await fetched(server, limit: .seconds(1))
        }
        try await eventually("the connection is closed") { server.brokenOff == 1 }
    }

    @Test func `many silent servers don't delay another one`() async throws {
        let patience = JWKSFetcher(timeLimit: .seconds(5))
        var silent: [LoopbackServer] = []
        for _ in 0..<16 {
            silent.append(try LoopbackServer(answer: [], closes: false))
        }
        let ports = silent.map(\.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for port in ports {
                for _ in 0..<2 {
                    group.addTask {
                        await #expect(throws: JWKSFetchFault.self) {
                            try await patience.fetch("http://127.0.0.1:\(port)/keys")
                        }
                    }
                }
            }
            try await eventually("all to be asked") {
                silent.allSatisfy { server in server.requests == 2 }
            }
            let server = try LoopbackServer(answer: answer())
            _ = try await patience.fetch("http://127.0.0.1:\(server.port)/keys")
            // Ends the connections, and with them the fetches.
            silent = []
            try await group.waitForAll()
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"])
    func `a transfer from a silent server is given up`(text: String) async throws {
        let server = try LoopbackServer(answer: Array(text.utf8), closes: false)
        await #expect(throws: JWKSFetchFault.timedOut) {
            try await fetched(server, limit: .milliseconds(200))
        }
    }

    // An end after whole header lines ended the process when Foundation fetched
    // (swift-corelibs-foundation issue 5285).
    @Test(arguments: [
        "", "HTTP", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nDate: today\r\n",
        "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nDate: today\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
        "HTTP/1.1 99999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno header at all\r\n\r\n",
        "nonsense\r\n\r\n", "\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}", "{\"keys\":[]}",
        "SSH-2.0-OpenSSH_9.2\r\n",
    ])
    func `a server that breaks off is unreachable`(text: String) async throws {
        let server = try LoopbackServer(answer: Array(text.utf8))
        await #expect(throws: JWKSFetchFault.unreachable) { try await fetched(server) }
    }

    @Test func `a closed port is unreachable`() async throws {
        var server: LoopbackServer? = try LoopbackServer(answer: [])
        let port = try #require(server).port
        server = nil
        await #expect(throws: JWKSFetchFault.unreachable) {
            // The port may still accept until its thread has closed it, and then breaks off.
            try await JWKSFetcher().fetch("http://127.0.0.1:\(port)/keys")
        }
    }

    @Test(arguments: [
        "", "keys", "/keys", "ftp://127.0.0.1/", "file:///etc/hostname", "http://issuer.example/",
        "http://127.0.0.1.issuer.example/", "https://", "https:///keys", "http://[::1",
        "http://127.0.0.1@issuer.example/", "http://issuer.example#@127.0.0.1/",
        "http:/127.0.0.1/", "http://localhost.example/",
        "http://127.0.0.1/\u{0}", "https://issuer.example/\r\nX: y", "https://issuer.example:port/",
    ])
    func `an address that is not safe to ask is refused`(url: String) async {
        await #expect(throws: JWKSFetchFault.unacceptableAddress) {
            try await JWKSFetcher().fetch(url)
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("no-store", nil), ("max-age=5", 5), ("Max-Age = 5", 5),
            ("max-age=\"5\"", 5), ("public,max-age=5", 5), ("s-maxage=7, max-age=5", 5),
            ("max-age=-5", nil), ("max-age=x", nil), ("max-age=99999999999999999999", nil),
        ] as [(String?, Int64?)])
    func `the maximum age is read from Cache-Control`(field: String?, seconds: Int64?) {
        #expect(CacheControl.maxAgeSeconds(field) == seconds)
    }
}
