extension JSONScanner {
    /// Reads a number of any length by the grammar of RFC 8259 section 6; infinite on overflow.
    mutating func number() throws(NotJSON) -> Double {
        if let number = shortInteger() {
            return number
        }
        var text: [UInt8] = []
        if takes(UInt8(ascii: "-")) {
            text.append(UInt8(ascii: "-"))
        }
        let whole = try digits()
        guard whole.count == 1 || whole.first != UInt8(ascii: "0") else {
            throw NotJSON()
        }
        text += whole
        if takes(UInt8(ascii: ".")) {
            text.append(UInt8(ascii: "."))
            text += try digits()
        }
        if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
            text.append(UInt8(ascii: "e"))
            if takes(UInt8(ascii: "-")) {
                text.append(UInt8(ascii: "-"))
            } else {
                _ = takes(UInt8(ascii: "+"))
            }
            text += try digits()
        }
        guard let number = Double(String(decoding: text, as: UTF8.self)) else {
            throw NotJSON()
        }
        return number
    }

    /// Reads an integer of 1 to 15 digits, such as a time, whose `Double` is exact; nil for other numbers.
    private mutating func shortInteger() -> Double? {
        var ahead = self
        let digits = ahead.taken { byte in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        guard
            (1...15).contains(digits.count),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else {
            return nil
        }
        switch ahead.peek() {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
        default: self = ahead
        }
        return Double(digits.reduce(into: Int64(0)) { $0 = $0 * 10 + Int64($1 - 0x30) })
    }

    private mutating func digits() throws(NotJSON) -> ArraySlice<UInt8> {
        let digits = taken { byte in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        guard !digits.isEmpty else {
            throw NotJSON()
        }
        return digits
    }
}
