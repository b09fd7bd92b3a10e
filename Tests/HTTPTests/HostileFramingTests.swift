import HTTP
import Testing

/// Bytes that could be read as two requests are refused once, with a JSON error, and nothing after them is
/// answered.
@Suite(.timeLimit(.minutes(10)))
struct HostileFramingTests {
    @Test(arguments: HostileFraming.all)
    func `it has one answer, which is ours, and the connection ends`(
        framing: HostileFraming
    ) async throws {
        let (answers, paths) = try await Self.send(framing.bytes + HostileFraming.hidden)
        Self.expect(framing.rejection, answers)
        #expect(paths.isEmpty)
    }

    @Test(arguments: HostileFraming.all)
    func `after a good request it is answered second`(framing: HostileFraming) async throws {
        let good = Array("POST /good HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxx".utf8)
        let (answers, paths) = try await Self.send(good + framing.bytes + HostileFraming.hidden)
        let parts = answers.split(separator: "POST xx", maxSplits: 1)
        try #require(parts.count == 2, "\(answers)")
        #expect(parts[0].hasPrefix("HTTP/1.1 200 "))
        Self.expect(framing.rejection, String(parts[1]))
        #expect(paths == ["/good"])
    }

    private static func expect(_ rejection: String, _ answers: String) {
        #expect(answers.ranges(of: "HTTP/1.1 ").count == 1, "\(answers)")
        #expect(answers.hasPrefix("HTTP/1.1 4"))
        #expect(answers.hasSuffix("\r\n\r\n\(rejection)"), "\(answers)")
        #expect(answers.contains("\r\nConnection: close\r\n"))
    }

    /// All bytes that the server sends before it closes the connection, and the paths that it handled.
    private static func send(_ bytes: [UInt8]) async throws -> (answers: String, paths: [String]) {
        let seen = Seen()
        var text = ""
        try await withServer(handler: {
            await seen.add($0); return await echo($0)
        }) { server in
            let client = try await RawClient(port: server.port)
            try await client.sendBytes(bytes)
            text = String(decoding: try await client.receiveUntilClosed(), as: UTF8.self)
        }
        return (text, await seen.paths)
    }

    private actor Seen {
        private(set) var paths: [String] = []

        func add(_ request: HTTPRequest) { paths.append(request.path) }
    }
}
