extension JSONScanner {
    /// Reads a number of any length by the grammar of RFC 8259 section 6; infinite on overflow.
    mutating func number() throws(NotJSON) -> Double {
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

    private mutating func digits() throws(NotJSON) -> ArraySlice<UInt8> {
        let digits = taken { byte in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        guard !digits.isEmpty else {
            throw NotJSON()
        }
        return digits
    }
}
