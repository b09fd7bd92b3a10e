import Encodings

extension JSONScanner {
    /// Reads a string with its quotation marks.
    mutating func string() throws(NotJSON) -> String {
        guard takes(UInt8(ascii: "\"")) else {
            throw NotJSON()
        }
        let plain = plainRun()
        // Most strings have no escapes and are made of their first plain run.
        if takes(UInt8(ascii: "\"")) {
            return try text(plain)
        }
        var bytes = Array(plain)
        while true {
            switch try taken() {
            case UInt8(ascii: "\""): return try text(bytes[...])
            case UInt8(ascii: "\\"): bytes += try escape()
            default: throw NotJSON()
            }
            bytes += plainRun()
        }
    }

    private func text(_ bytes: ArraySlice<UInt8>) throws(NotJSON) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw NotJSON()
        }
        return text
    }

    /// Reads the rest of an escape after its backslash and returns it in UTF-8.
    private mutating func escape() throws(NotJSON) -> [UInt8] {
        switch try taken() {
        case UInt8(ascii: "\""): return [0x22]
        case UInt8(ascii: "\\"): return [0x5C]
        case UInt8(ascii: "/"): return [0x2F]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try escapedScalar())).utf8)
        default: throw NotJSON()
        }
    }

    /// Reads the digits of `\u`, and the low surrogate that must follow a high one.
    private mutating func escapedScalar() throws(NotJSON) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) {
            return scalar
        }
        guard
            UTF16.isLeadSurrogate(unit), takes(UInt8(ascii: "\\")), takes(UInt8(ascii: "u"))
        else {
            throw NotJSON()
        }
        let low = try codeUnit()
        guard UTF16.isTrailSurrogate(low) else {
            throw NotJSON()
        }
        return UTF16.decode(UTF16.EncodedScalar([unit, low]))
    }

    private mutating func codeUnit() throws(NotJSON) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Hex.value(of: try taken()) else {
                throw NotJSON()
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
