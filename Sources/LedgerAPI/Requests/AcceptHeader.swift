internal import HTTP

/// The `Accept` field (RFC 9110, section 12.5.1) for answers that exist as JSON and as text.
enum AcceptHeader {
    private static let comma: UInt8 = 0x2C
    private static let semicolon: UInt8 = 0x3B
    private static let equals: UInt8 = 0x3D
    private static let quote: UInt8 = 0x22
    private static let backslash: UInt8 = 0x5C

    /// Checks whether `text/plain` is preferred to JSON, or has the same weight and is listed
    /// first.
    ///
    /// A type has the weight of the most specific range that matches it. JSON is the default when
    /// neither is accepted.
    static func prefersText(_ headers: HTTPHeaders) -> Bool {
        let ranges = headers.values("Accept")
            .flatMap { parts(of: $0[...], at: comma) }.compactMap { MediaRange($0) }
        guard let text = rank(of: "text", "plain", in: ranges) else { return false }
        guard let json = rank(of: "application", "json", in: ranges) else { return true }
        return text.weight == json.weight ? text.index < json.index : text.weight > json.weight
    }

    /// Returns the weight of a type and the index of the range that gives it; nil when it is not
    /// accepted.
    private static func rank(
        of type: String, _ subtype: String, in ranges: [MediaRange]
    ) -> (weight: Int, index: Int)? {
        var found: (precision: Int, weight: Int, index: Int)?
        for (index, range) in ranges.enumerated() {
            guard let precision = range.precision(for: type, subtype) else { continue }
            if let found, found.precision >= precision { continue }
            found = (precision: precision, weight: range.weight, index: index)
        }
        guard let found, found.weight > 0 else { return nil }
        return (weight: found.weight, index: found.index)
    }

    /// A range of media types with its weight, from 0 to 1,000.
    private struct MediaRange {
        let type: MediaType
        let weight: Int

        /// Reads one member of the list; nil when it or its weight is malformed.
        init?(_ text: Substring) {
            let parts = AcceptHeader.parts(of: text, at: AcceptHeader.semicolon)
            guard let first = parts.first, let type = MediaType(String(first)) else { return nil }
            self.type = type
            for parameter in parts.dropFirst() {
                let sides = parameter.utf8.split(
                    separator: AcceptHeader.equals, maxSplits: 1, omittingEmptySubsequences: false)
                let name = AcceptHeader.trimmed(sides[0])
                guard name.elementsEqual("q".utf8) || name.elementsEqual("Q".utf8) else { continue }
                guard sides.count == 2, let weight = Self.weight(AcceptHeader.trimmed(sides[1]))
                else { return nil }
                self.weight = weight
                return
            }
            weight = 1_000
        }

        /// Returns how specifically the range matches a type; nil when it does not.
        func precision(for type: String, _ subtype: String) -> Int? {
            switch (self.type.type, self.type.subtype) {
            case (type, subtype): 2
            case (type, "*"): 1
            case ("*", "*"): 0
            default: nil
            }
        }

        /// Returns the weight in thousandths: 0 or 1 with up to three decimals, at most 1.
        private static func weight(_ text: Substring.UTF8View) -> Int? {
            let digits = Array(text)
            guard let first = digits.first, first == 0x30 || first == 0x31, digits.count <= 5,
                digits.count == 1 || digits[1] == 0x2E
            else { return nil }
            var weight = first == 0x31 ? 1_000 : 0
            var worth = 100
            for digit in digits.dropFirst(2) {
                guard 0x30...0x39 ~= digit else { return nil }
                weight += Int(digit - 0x30) * worth
                worth /= 10
            }
            return weight <= 1_000 ? weight : nil
        }
    }

    /// Splits at separators that are not inside a quoted string.
    private static func parts(of text: Substring, at separator: UInt8) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.utf8.split { byte in
            if isEscaped {
                isEscaped = false
            } else if byte == backslash, isQuoted {
                isEscaped = true
            } else if byte == quote {
                isQuoted.toggle()
            } else {
                return byte == separator && !isQuoted
            }
            return false
        }.map { Substring($0) }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text.drop { $0 == 0x20 || $0 == 0x09 }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
