import Testing

/// A request that two parsers could read differently, or that is invalid.
struct HostileFraming: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The request, up to where another one is hidden.
    let bytes: [UInt8]
    /// The reason of the refusal, as the test server renders it.
    let rejection: String

    /// A smuggled request, which a misreading server would answer.
    static let hidden = smuggled("/smuggled")

    /// A smuggled request with a path of its own.
    static func smuggled(_ path: String) -> [UInt8] {
        Array("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    }

    static let all = codings + lengths + lines + fields + sizes

    /// `Transfer-Encoding`, with valid and invalid chunks.
    static let codings = [
        chunked("no trick", "2\r\nxx\r\n0\r\n\r\n"),
        chunked("LF after an extension", "2;\nxx\r\n0\r\n\r\n"),
        chunked("LF after a chunk size", "2\nxx\r\n0\r\n\r\n"),
        chunked("LF behind the data", "2\r\nxx\n0\r\n\r\n"),
        chunked("LF in the trailer", "2\r\nxx\r\n0\r\nX: 1\n\r\n"),
        chunked("LF at the end", "2\r\nxx\r\n0\r\n\n"),
        chunked("long extension", "2;\(run(16_000))\r\nxx\r\n0\r\n\r\n"),
        chunked("zeros before a size", "\(run(16_000, "0"))2\r\nxx\r\n0\r\n\r\n"),
        chunked("size of 20 digits", "fffffffffffffffffff2\r\nxx\r\n0\r\n\r\n"),
        chunked("no size", "zz\r\n\r\n"),
        coding("Transfer-Encoding: gzip"), coding("Transfer-Encoding: gzip, chunked"),
        coding("Transfer-Encoding: identity"), coding("Transfer-Encoding: "),
        coding("Transfer-Encoding: xchunked"), coding("transfer-ENCODING:chunked"),
        coding("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        coding("Content-Length: 2\r\nTransfer-Encoding: chunked"),
        coding("Transfer-Encoding: chunked\r\nContent-Length: 2"),
        HostileFraming(
            "coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "lengthRequired"),
    ]

    /// `Content-Length` in invalid forms.
    static let lengths =
        ["+2", "2, 2", "2,2", "", "-1", "0x2", "2 2", "2;", "2.0", "\"2\"", "2 ", "2\u{B}", "²"].map
    {
        field("Content-Length: \($0)", "malformed")
    } + [
        field("Content-Length: 2\r\nContent-Length: 2", "malformed"),
        field("Content-Length: 2\r\ncontent-length: 3", "malformed"),
        field("Content-Length : 2", "malformed"),
        field("Content-Length: 99999999999999999999", "bodyTooLarge"),
        field("Content-Length: 18446744073709551618", "bodyTooLarge"),
        field("Content-Length: \(run(400, "9"))", "bodyTooLarge"),
    ]

    /// Request lines and line ends.
    static let lines = [
        line("GET / HTTP/0.9"), line("GET / HTTP/2.0"), line("GET / HTTP/1"), line("GET / HTTP/11"),
        line("GET / HTTP/1.10"), line("GET / http/1.1"), line("GET / HTTP/1.1 "), line("GET /"),
        line("GET"), line(" GET / HTTP/1.1"), line("GET  / HTTP/1.1"), line("GET /  HTTP/1.1"),
        line("GET /a b HTTP/1.1"), line("GET\t/ HTTP/1.1"), line("G@T / HTTP/1.1"),
        line("GET /\u{0} HTTP/1.1"), line("GET /é HTTP/1.1"), line("GET / HTTP/1.1\u{0}"),
        line("PRI * HTTP/2.0"), line("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"), line("\u{0}"), line("\n"),
        HostileFraming(
            "bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", "malformed"),
        HostileFraming("bare LF after a field", "GET / HTTP/1.1\r\nHost: h\n\r\n", "malformed"),
        HostileFraming(
            "bare LF for the empty line", "GET / HTTP/1.1\r\nHost: h\r\n\n", "malformed"),
        HostileFraming("bare LF everywhere", "GET / HTTP/1.1\nHost: h\n\n", "malformed"),
        HostileFraming("bare CR", "GET / HTTP/1.1\r\nX-A: 1\rHost: h\r\n\r\n", "malformed"),
    ]

    /// Invalid header fields.
    static let fields =
        [
            "no colon", ": no name", "X-A : 1", "X-A: 1\r\n 2", "X-A: 1\r\n\t2", " X-A: 1",
            "X\u{0}Y: 1",
            "X-A: \u{0}", "X-A: 1\u{0}2", "X-A: \u{1}", "X-A: \u{7F}", "X@A: 1", "X-Ä: 1",
            "X(A): 1",
        ].map { field($0, "malformed") }
        // Without a body; libmicrohttpd would treat the following bytes as one, and not answer.
        + ["", "\r\nContent-Length: 0"].map {
            field("Expect: 100-continue\($0)", "expectationUnknown")
        }

    /// Requests that exceed each limit.
    static let sizes = [
        HostileFraming(
            "target of 40,000 bytes", "GET /\(run(40_000)) HTTP/1.1\r\n", "headersTooLarge"),
        HostileFraming(
            "query of 8,000 pairs", "GET /?\(run(8_000, "a&")) HTTP/1.1\r\nHost: h\r\n\r\n",
            "malformed"),
        HostileFraming(
            "method of 40,000 bytes", "\(run(40_000)) / HTTP/1.1\r\n", "headersTooLarge"),
        HostileFraming("empty lines", run(20_000, "\r\n"), "headersTooLarge"),
        field("X-A: \(run(40_000))", "headersTooLarge"),
        field("\(run(40_000)): 1", "headersTooLarge"),
        field(run(5_000, "a:\r\n") + "X: 1", "headersTooLarge"),
        field("Content-Length: \(run(40_000, " "))2", "headersTooLarge"),
    ]

    private init(_ description: String, _ text: String, _ rejection: String) {
        testDescription = description
        bytes = Array(text.utf8)
        self.rejection = rejection
    }

    private static func chunked(_ name: String, _ body: String) -> HostileFraming {
        HostileFraming(
            "chunks: \(name)",
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\(body)",
            "lengthRequired")
    }

    private static func coding(_ fields: String) -> HostileFraming {
        field(fields, "lengthRequired")
    }

    private static func field(_ fields: String, _ rejection: String) -> HostileFraming {
        HostileFraming(
            "field: \(fields.prefix(60).debugDescription)",
            "POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\nxx", rejection)
    }

    private static func line(_ line: String) -> HostileFraming {
        HostileFraming(
            "request line: \(line.debugDescription)", "\(line)\r\nHost: h\r\n\r\n", "malformed")
    }

    private static func run(_ count: Int, _ text: String = "a") -> String {
        String(repeating: text, count: count)
    }
}
