import Testing

@testable import Cryptography

/// Fetches over real sockets on 127.0.0.1, from servers that behave and servers that don't.
@Suite(.timeLimit(.minutes(1))) struct JWKSFetcherTests {
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

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"])
    func `a server that falls silent is given up`(text: String) async throws {
        let server = try LoopbackServer(answer: Array(text.utf8), closes: false)
        await #expect(throws: JWKSFetchFault.timedOut) {
            try await fetched(server, limit: .milliseconds(200))
        }
    }

    // Left out: whole header lines and then the end, which ends the process; see `JWKSFetcher`.
    @Test(arguments: [
        "", "HTTP", "HTTP/1.1 200 OK", "nonsense\r\n\r\n", "\r\n\r\n",
        "HTTP/1.1 99999 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `a server that breaks off is unreachable`(text: String) async throws {
        let server = try LoopbackServer(answer: Array(text.utf8))
        await #expect(throws: JWKSFetchFault.unreachable) { try await fetched(server) }
    }

    @Test func `a port where nobody listens is unreachable`() async throws {
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
