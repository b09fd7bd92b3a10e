internal import Encodings

/// The place of a request in a distributed trace (W3C Trace Context, Recommendation of 2021-11-23).
package struct TraceContext: Hashable, Sendable {
    /// The name of the header field.
    package static let header = "traceparent"
    /// The length of a value of version 00, in bytes.
    private static let length = 55

    /// The id of the whole trace; not zero.
    package let traceID: UInt128
    /// The id of the span that handles the request; not zero.
    package let spanID: UInt64
    /// The flags, of which only *sampled*, 1, and *random*, 2, have a meaning.
    package let flags: UInt8

    /// Creates a context; nil for an id of zeros.
    package init?(traceID: UInt128, spanID: UInt64, flags: UInt8) {
        guard traceID != 0, spanID != 0 else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        self.flags = flags
    }

    /// Reads a value of `traceparent`; nil when it is invalid (section 3.2).
    ///
    /// A later version may append fields, which are ignored (section 4.3).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.length else { return nil }
        guard let version = Self.number(bytes[0..<2]), version != 0xFF,
            bytes.count == Self.length || version > 0 && bytes[Self.length] == Self.dash,
            [2, 35, 52].allSatisfy({ bytes[$0] == Self.dash }),
            let traceID = Self.number(bytes[3..<35]), let spanID = Self.number(bytes[36..<52]),
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(
            traceID: traceID, spanID: UInt64(spanID),
            // A later version may define further flags.
            flags: UInt8(flags) & 0x3)
    }

    /// The context of a span below this one, in the same trace; nil for an id of zeros.
    package func child(_ spanID: UInt64) -> TraceContext? {
        TraceContext(traceID: traceID, spanID: spanID, flags: flags)
    }

    /// The trace's id as 32 hexadecimal digits.
    package var traceText: String { Self.hex(traceID, digits: 32) }
    /// The span's id as 16 hexadecimal digits.
    package var spanText: String { Self.hex(UInt128(spanID), digits: 16) }
    /// The value of `traceparent` in a request that this span sends.
    package var text: String {
        "00-\(traceText)-\(spanText)-\(Self.hex(UInt128(flags), digits: 2))"
    }

    private static let dash = UInt8(ascii: "-")

    /// Reads lower-case hexadecimal digits, the only ones that are valid.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt128? {
        var number: UInt128 = 0
        for digit in digits {
            guard !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit),
                let value = Hex.value(of: digit)
            else { return nil }
            number = number << 4 | UInt128(value)
        }
        return number
    }

    private static func hex(_ number: UInt128, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
