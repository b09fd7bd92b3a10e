extension Span<UInt8> {
    /// Whether any byte must be escaped in a JSON string, RFC 8259 section 7.
    ///
    /// Computed from minima, without a branch per byte, so that the compiler can vectorize it.
    package var mustBeEscaped: Bool {
        var least = UInt8.max
        var leastDifference = UInt8.max
        for index in indices {
            let byte = self[index]
            least = min(least, byte)
            leastDifference = min(
                leastDifference, byte ^ UInt8(ascii: "\""), byte ^ UInt8(ascii: "\\"))
        }
        return least < 0x20 || leastDifference == 0
    }
}
