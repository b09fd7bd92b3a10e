import Testing

@testable import HTTP

/// The bytes that pass to libmicrohttpd, in any chunks.
struct RequestScannerTests {
    private static let good = [
        "GET /a?b=c&d HTTP/1.1\r\nHost:h\r\nX-A:\r\nX-B: \t a b:c \u{e9} \t\r\n\r\n",
        "POST / HTTP/1.1\r\ncontent-LENGTH: 3\r\n\r\n\r\n\nGET / HTTP/1.0\r\n\r\n",
        "\r\n\r\nGET * HTTP/1.7\r\nContent-Length:0\r\n\r\n\r\nGET http://h/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ]

    @Test(arguments: good)
    func `a good request passes unchanged, in any chunks`(text: String) {
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            let passed = Passed([bytes[..<split], bytes[split...]])
            #expect(passed.bytes == bytes)
            #expect(passed.refusal == nil)
        }
        #expect(Passed(bytes.map { [$0] }).bytes == bytes)
    }

    @Test(arguments: HostileFraming.all)
    func `a bad request passes as a good head, the same in any chunks`(
        framing: HostileFraming
    ) {
        let bytes = framing.bytes + HostileFraming.hidden
        let whole = Passed([bytes[...]])
        #expect(Passed(bytes.map { [$0] }).bytes == whole.bytes)
        for split in stride(from: 0, through: bytes.count, by: max(1, bytes.count / 300)) {
            #expect(Passed([bytes[..<split], bytes[split...]]).bytes == whole.bytes)
        }
        // The end of an oversized head makes it slightly longer.
        var wider = HTTPServerLimits()
        wider.headerBytesMax += 64
        let again = Passed([whole.bytes[...]], limits: wider)
        #expect(again.bytes == whole.bytes)
        #expect(again.refusal == nil)
        // A transfer coding, like an expectation, is in a valid head, and is refused for its meaning.
        if !["lengthRequired", "expectationUnknown"].contains(framing.rejection) {
            #expect(whole.refusal.map { "\($0)" } == framing.rejection)
            #expect(whole.headCount == 1)
        }
    }

    @Test func `a byte is accepted only where the grammar allows it`() {
        for byte in UInt8.min...UInt8.max {
            let isVisible = byte > 0x20 && byte < 0x7F
            #expect(Self.takes(byte, in: "GET /a", " HTTP/1.1\r\n\r\n") == isVisible, "\(byte)")
            let isToken = ASCII.isTokenCharacter(byte)
            #expect(Self.takes(byte, in: "G", "T / HTTP/1.1\r\n\r\n") == isToken, "\(byte)")
            #expect(
                Self.takes(byte, in: "GET / HTTP/1.1\r\nX", "Y: 1\r\n\r\n")
                    == (isToken || byte == 0x3A))
            let isText = byte >= 0x20 && byte != 0x7F || byte == 0x09
            #expect(
                Self.takes(byte, in: "GET / HTTP/1.1\r\nX: 1", "2\r\n\r\n") == isText, "\(byte)")
            let isDigit = byte >= 0x30 && byte <= 0x39
            #expect(
                Self.takes(byte, in: "GET / HTTP/1.1\r\nContent-Length: 0", "\r\n\r\n") == isDigit,
                "\(byte)")
        }
    }

    @Test func `a field that libmicrohttpd would parse is renamed`() {
        let passed = Passed([Array("GET / HTTP/1.1\r\nCOOKIE: a\r\nCookie: b\r\n\r\n".utf8)[...]])
        #expect(passed.bytes == Array("GET / HTTP/1.1\r\nCOOKI-: a\r\nCooki-: b\r\n\r\n".utf8))
    }

    @Test func `the end of a refused head waits for room`() {
        var scanner = RequestScanner(limits: HTTPServerLimits())
        var text = Array("GET / HTTP/2".utf8)
        let count = unsafe text.withUnsafeMutableBytes { buffer in
            unsafe scanner.pass(buffer, count: buffer.count)
        }
        #expect(text[..<count] == Array("GET / HTTP/1".utf8)[...])
        var rest: [UInt8] = []
        while true {
            var room: [UInt8] = [0, 0, 0]
            let count = unsafe room.withUnsafeMutableBytes { unsafe scanner.copyRest(into: $0) }
            guard count > 0 else { break }
            rest += room[..<count]
        }
        #expect(rest == Array(".1\r\n\r\n".utf8))
    }

    private static func takes(_ byte: UInt8, in start: String, _ end: String) -> Bool {
        Passed([(Array(start.utf8) + [byte] + Array(end.utf8))[...]]).refusal == nil
    }

    /// Returns the bytes of chunks that a scanner passes.
    private struct Passed {
        private(set) var bytes: [UInt8] = []
        let refusal: HTTPRejection?
        let headCount: Int

        init(_ chunks: [ArraySlice<UInt8>], limits: HTTPServerLimits = HTTPServerLimits()) {
            var scanner = RequestScanner(limits: limits)
            for chunk in chunks { bytes += scanner.pass(Array(chunk)) }
            refusal = scanner.refusal
            headCount = scanner.headCount
        }
    }
}
