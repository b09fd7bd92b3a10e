/// Percent-encoded text, RFC 3986 section 2.1, as it stands in a path segment, a query or a form.
package enum PercentEncoding {
    /// Replaces every byte but those of unreserved characters (section 2.3) by its escape in upper case.
    package static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return encoded
    }

    /// Decodes a text once; plus signs are unchanged.
    ///
    /// Returns nil when an escape is truncated or not hexadecimal, and when the result is not UTF-8.
    package static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let decoded = Hex.decode(digits.lowercased()) else {
                return nil
            }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
