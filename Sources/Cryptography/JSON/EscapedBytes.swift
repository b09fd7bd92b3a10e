extension Span<UInt8> {
    /// Whether any byte can't stand in a JSON string as it is: RFC 8259 section 7.
    ///
    /// It is told by minima, without a branch for each byte, so that many are looked at at a time.
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
