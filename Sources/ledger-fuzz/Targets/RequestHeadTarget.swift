import HTTP

/// Bytes of a connection, compared with a second parser of RFC 9112: libmicrohttpd receives only well-formed heads.
enum RequestHeadTarget {
    /// Large enough that the bytes after a head in one chunk do not matter.
    private static let limits = {
        var limits = HTTPServerLimits()
        limits.headerBytesMax = 1_048_576
        return limits
    }()

    static let target = FuzzTarget(
        "request-head",
        corpus: [
            "GET /a?b=c&d HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nX-A:\r\n\r\n",
            "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.0\r\n\r\n",
            "\r\nPOST * HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;\nxx\r\n0\r\n\r\n",
            "GET http://h/ HTTP/1.1\r\nHost: h\r\nCookie: a=b; c\r\ncontent-length:0\r\n\r\n",
        ],
        words: [
            "\r", "\n", "\r\n", "\r\n\r\n", "\n\n", "\0", " ", "\t", ":", " :", "\r\n ", "HTTP/1.1",
            "HTTP/2.0", "Content-Length: ", "Content-Length: +2\r\n", "Content-Length: 2, 2\r\n",
            "99999999999999999999", "Transfer-Encoding: chunked\r\n", "Cookie: ",
            "GET / HTTP/1.1\r\n",
        ]
    ) { input in
        let (passed, scanner) = read(input, limits)
        let split = read(input, limits, splitAt: input.count / 2)
        try require(split.passed == passed, "chunks give another result")
        // The end of an oversized head makes it slightly longer.
        var wider = limits
        wider.headerBytesMax += 64
        let again = read(passed, wider)
        try require(again.scanner.refusal == nil, "the forwarded bytes are not well-formed")
        try require(again.passed == passed, "the forwarded bytes are changed again")
        let isTaken = scanner.headCount > (scanner.refusal == nil ? 0 : 1)
        try require(isTaken == startsWell(input), "the second parser disagrees on the first head")
        return isTaken
    }

    private static func read(
        _ bytes: [UInt8], _ limits: HTTPServerLimits, splitAt split: Int = 0
    ) -> (passed: [UInt8], scanner: RequestScanner) {
        var scanner = RequestScanner(limits: limits)
        let passed = scanner.pass(Array(bytes[..<split])) + scanner.pass(Array(bytes[split...]))
        return (passed, scanner)
    }

    /// Checks whether the input begins with a complete and valid head, after any empty lines.
    private static func startsWell(_ bytes: [UInt8]) -> Bool {
        var start = bytes[...]
        while start.starts(with: [13, 10]) { start = start.dropFirst(2) }
        guard let end = start.firstRange(of: [13, 10, 13, 10]),
            end.upperBound <= limits.headerBytesMax
        else { return false }
        // Latin-1, so that each byte is a character.
        let text = String(
            String.UnicodeScalarView(start[..<end.lowerBound].map { Unicode.Scalar($0) }))
        let scalars = Array(text.unicodeScalars)
        let lines = scalars.split(
            separator: "\r", omittingEmptySubsequences: false
        ).enumerated().map { index, line in
            index == 0 ? line : line.first == "\n" ? line.dropFirst() : ["\n"]
        }
        return isRequestLine(lines[0]) && areFields(lines.dropFirst())
    }

    private static func isRequestLine(_ line: ArraySlice<Unicode.Scalar>) -> Bool {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, let minor = parts[2].last, ("0"..."9").contains(minor) else {
            return false
        }
        return isToken(parts[0]) && !parts[1].isEmpty
            && parts[1].allSatisfy { $0 > " " && $0 < "\u{7F}" }
            && parts[1].count { $0 == "&" || $0 == "?" } <= 100
            && Array(parts[2].dropLast()) == Array("HTTP/1.".unicodeScalars)
    }

    private static func areFields(_ lines: ArraySlice<ArraySlice<Unicode.Scalar>>) -> Bool {
        var lengths = 0
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]) else {
                return false
            }
            let value = line[line.index(after: colon)...]
            guard value.allSatisfy({ $0 == "\t" || $0 >= " " && $0 != "\u{7F}" }) else {
                return false
            }
            let name = String(String.UnicodeScalarView(line[..<colon])).lowercased()
            guard name == "content-length" else { continue }
            lengths += 1
            let digits = value.drop { $0 == " " || $0 == "\t" }
            guard (1...18).contains(digits.count), digits.allSatisfy({ ("0"..."9").contains($0) })
            else { return false }
        }
        return lengths < 2 && lines.count <= limits.headerCountMax
    }

    private static func isToken(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let marks = Array("!#$%&'*+-.^_`|~".unicodeScalars)
        return !text.isEmpty
            && text.allSatisfy { scalar in
                marks.contains(scalar)
                    || scalar.isASCII
                        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            }
    }
}
