extension JSONScanner {
    /// Longest spelling of a number that is read, in characters.
    private static let numberCharactersMax = 64

    /// Reads a number by the grammar of RFC 8259 section 6; one that overflows is refused.
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
        guard
            text.count <= JSONScanner.numberCharactersMax,
            let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite
        else {
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
