/// A complete response at the beginning of a buffer.
struct Answer {
    private static let headBytesMax = 8_192
    private static let lengthName = Array("content-length:".utf8)

    let status: Int
    let body: Range<Int>

    /// Parses the head and locates the body; nil when the response is incomplete.
    ///
    /// - Throws: `LoadFailure` for a malformed response.
    init?(_ bytes: [UInt8], count: Int) throws(LoadFailure) {
        let bytes = bytes.span
        guard let headEnd = Self.headEnd(bytes, count: count) else {
            guard count <= Self.headBytesMax else {
                throw LoadFailure(description: "the head of an answer is too long")
            }
            return nil
        }
        guard headEnd > 16, let status = Self.number(bytes, from: 9, to: headEnd) else {
            throw LoadFailure(description: "an answer has no status")
        }
        guard let length = Self.length(bytes, headEnd: headEnd) else {
            throw LoadFailure(description: "an answer of status \(status) has no length")
        }
        guard headEnd + length <= count else { return nil }
        self.status = status
        body = headEnd..<(headEnd + length)
    }

    private static func headEnd(_ bytes: Span<UInt8>, count: Int) -> Int? {
        var index = 3
        while index < count {
            // Checking every second byte is enough to find the end, whose four bytes are CR or LF.
            let byte = bytes[index]
            if byte == 10 {
                if bytes[index - 1] == 13, bytes[index - 2] == 10, bytes[index - 3] == 13 {
                    return index + 1
                }
                index += 1
            } else {
                index += byte == 13 ? 1 : 2
            }
        }
        return nil
    }

    /// Returns the value of Content-Length.
    private static func length(_ bytes: Span<UInt8>, headEnd: Int) -> Int? {
        var line = 0
        while line < headEnd {
            // Upper- and lower-case letters differ by one bit, and no other byte here becomes a letter.
            var matched = 0
            while matched < lengthName.count, line + matched < headEnd,
                bytes[line + matched] | 0x20 == lengthName[matched]
            {
                matched += 1
            }
            if matched == lengthName.count {
                return number(bytes, from: line + matched, to: headEnd)
            }
            while line < headEnd, bytes[line] != 10 { line += 1 }
            line += 1
        }
        return nil
    }

    private static func number(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        var index = start
        while index < end, bytes[index] == 32 { index += 1 }
        var value = 0
        let first = index
        while index < end, index < first + 9, (48...57).contains(bytes[index]) {
            value = value * 10 + Int(bytes[index] - 48)
            index += 1
        }
        return index > first ? value : nil
    }
}

extension [UInt8] {
    /// Returns the first index of a text in a range of these bytes.
    func firstIndex(of text: [UInt8], in range: Range<Int>) -> Int? {
        guard let first = text.first else { return range.lowerBound }
        var index = range.lowerBound
        while index + text.count <= range.upperBound {
            if self[index] == first, (1..<text.count).allSatisfy({ self[index + $0] == text[$0] }) {
                return index
            }
            index += 1
        }
        return nil
    }
}
