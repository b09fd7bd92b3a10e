/// A cursor in the bytes of an entry that reads values without copying them first.
///
/// Digits are checked without branches, since random ones cannot be predicted.
struct EntryBytes {
    let bytes: [UInt8]
    private(set) var index: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        index = 0
        end = bytes.count
    }

    /// Creates a cursor over a part of the same bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        index = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { index == end }

    /// Consumes a literal, if it is next.
    @inline(__always)
    mutating func consume(_ literal: String) -> Bool {
        let expected = literal.utf8.span
        guard end - index >= expected.count else { return false }
        for offset in 0..<expected.count where bytes[index + offset] != expected[offset] {
            return false
        }
        index += expected.count
        return true
    }

    /// Checks whether a byte is next.
    func isAt(_ byte: Unicode.Scalar) -> Bool {
        index < end && bytes[index] == UInt8(ascii: byte)
    }

    /// Consumes a quoted string: ASCII without quotes, backslashes and control characters.
    mutating func text() -> Range<Int>? {
        guard index < end, bytes[index] == UInt8(ascii: "\"") else { return nil }
        var offset = index + 1
        while offset < end, bytes[offset] != UInt8(ascii: "\"") {
            let byte = bytes[offset]
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
            offset += 1
        }
        guard offset < end else { return nil }
        defer { index = offset + 1 }
        return index + 1..<offset
    }

    /// Consumes a quoted number in canonical form; larger numbers than the longest log can have are
    /// refused.
    mutating func integer() -> Int64? {
        guard let text = text(), !text.isEmpty, text.count <= 19,
            text.count == 1 || bytes[text.lowerBound] != UInt8(ascii: "0")
        else { return nil }
        var value: UInt64 = 0
        for offset in text {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + UInt64(digit)
        }
        return value <= UInt64(LogPosition.endMax) ? Int64(value) : nil
    }

    /// Consumes a quoted identifier in lower case.
    mutating func id<Kind>() -> EntityID<Kind>? {
        guard end - index >= 38, bytes[index] == UInt8(ascii: "\""),
            bytes[index + 37] == UInt8(ascii: "\"")
        else { return nil }
        let start = index + 1
        guard bytes[start + 8] == UInt8(ascii: "-"), bytes[start + 13] == UInt8(ascii: "-"),
            bytes[start + 18] == UInt8(ascii: "-"), bytes[start + 23] == UInt8(ascii: "-")
        else { return nil }
        var wrong: UInt8 = 0
        let high =
            hex(start..<start + 8, &wrong) << 32 | hex(start + 9..<start + 13, &wrong) << 16
            | hex(start + 14..<start + 18, &wrong)
        let low =
            hex(start + 19..<start + 23, &wrong) << 48 | hex(start + 24..<start + 36, &wrong)
        guard wrong == 0 else { return nil }
        index += 38
        return EntityID(bits: UInt128(high) << 64 | UInt128(low))
    }

    @inline(__always)
    private func hex(_ slice: Range<Int>, _ wrong: inout UInt8) -> UInt64 {
        var value: UInt64 = 0
        for offset in slice {
            let byte = bytes[offset]
            let isLetter = byte >> 6 & 1
            let digit = (byte & 0x0F) &+ 9 &* isLetter
            wrong |= (digit &+ 0x30 &+ 39 &* isLetter) ^ byte
            wrong |= digit & 0xF0
            wrong |= isLetter & (digit < 10 ? 1 : 0)
            wrong |= (isLetter ^ 1) & (digit > 9 ? 1 : 0)
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Consumes a quoted digest.
    mutating func digest() -> Digest? {
        guard end - index >= 45, bytes[index] == UInt8(ascii: "\""),
            bytes[index + 44] == UInt8(ascii: "\""),
            let digest = Digest(base64URL: bytes.span.extracting(index + 1..<index + 44))
        else { return nil }
        index += 45
        return digest
    }

    /// Consumes a quoted time in the format of entries.
    mutating func timestamp() -> Timestamp? {
        guard end - index >= 29, bytes[index] == UInt8(ascii: "\""),
            bytes[index + 28] == UInt8(ascii: "\""),
            let time = Timestamp(bytes, at: index + 1)
        else { return nil }
        index += 29
        return time
    }

    /// Consumes a list of links, each an object in canonical form.
    mutating func links() -> [Account.Link]? {
        guard consume("[") else { return nil }
        var links: [Account.Link] = []
        while !consume("]") {
            guard links.isEmpty || consume(","), links.count < EntryDetails.linksMax,
                consume("{\"identity\":"), let identity: IdentityID = id(),
                consume(",\"linked_at\":"), let linkedAt = timestamp(),
                consume(",\"linked_position\":"), let position = integer(),
                consume(",\"provider\":"), let name = text(),
                let provider = ProviderName(string(name)), consume("}")
            else { return nil }
            links.append(
                Account.Link(
                    identity: identity, provider: provider, linkedAt: linkedAt,
                    position: LogPosition(position)))
        }
        return links
    }

    /// Checks whether a range equals these bytes.
    func holds(_ literal: String, at range: Range<Int>) -> Bool {
        var part = EntryBytes(bytes, range)
        return part.consume(literal) && part.isAtEnd
    }

    /// Returns a range as a string.
    func string(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension Timestamp {
    /// Reads the 27 characters of `YYYY-MM-DDTHH:MM:SS.ffffffZ`; nil for a time that does not
    /// exist.
    init?(_ bytes: [UInt8], at start: Int) {
        guard bytes[start + 4] == UInt8(ascii: "-"), bytes[start + 7] == UInt8(ascii: "-"),
            bytes[start + 10] == UInt8(ascii: "T"), bytes[start + 13] == UInt8(ascii: ":"),
            bytes[start + 16] == UInt8(ascii: ":"), bytes[start + 19] == UInt8(ascii: "."),
            bytes[start + 26] == UInt8(ascii: "Z"),
            let year = decimal(bytes, start..<start + 4),
            let month = decimal(bytes, start + 5..<start + 7),
            let day = decimal(bytes, start + 8..<start + 10),
            let hour = decimal(bytes, start + 11..<start + 13),
            let minute = decimal(bytes, start + 14..<start + 16),
            let second = decimal(bytes, start + 17..<start + 19),
            let fraction = decimal(bytes, start + 20..<start + 26),
            let days = daysSince1970(year: year, month: month, day: day), hour < 24, minute < 60,
            second < 60
        else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }
}

private func decimal(_ bytes: [UInt8], _ slice: Range<Int>) -> Int64? {
    var value: Int64 = 0
    for offset in slice {
        let digit = bytes[offset] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        value = value * 10 + Int64(digit)
    }
    return value
}
