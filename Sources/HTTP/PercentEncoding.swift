/// Strict percent-decoding, RFC 3986 section 2.1.
enum PercentEncoding {
    /// Decodes a text once; plus signs are unchanged.
    ///
    /// Returns nil when an escape is truncated or not hexadecimal, when the result is not UTF-8, and when
    /// it contains a NUL, which text columns can't store.
    static func decode(_ text: Substring) -> String? {
        let source = text.utf8
        guard source.contains(ASCII.percent) else {
            return source.contains(0) ? nil : String(text)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = source.startIndex
        while index < source.endIndex {
            var byte = source[index]
            if byte == ASCII.percent {
                guard let decoded = escape(in: source, at: &index) else { return nil }
                byte = decoded
            }
            guard byte != 0 else { return nil }
            bytes.append(byte)
            index = source.index(after: index)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Decodes the two digits after the percent sign and leaves the index at the second one.
    private static func escape(
        in source: Substring.UTF8View, at index: inout Substring.Index
    ) -> UInt8? {
        var value: UInt8 = 0
        for _ in 0..<2 {
            index = source.index(after: index)
            guard index < source.endIndex, let digit = ASCII.hexadecimalValue(source[index]) else {
                return nil
            }
            value = value << 4 | digit
        }
        return value
    }
}
