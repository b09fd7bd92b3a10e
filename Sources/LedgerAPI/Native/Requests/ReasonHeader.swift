internal import Encodings
internal import Ledger

/// The `Ledger-Reason` field: why personal data or a change on another's behalf is requested.
///
/// Plain ASCII, or `UTF-8''` and percent-encoded UTF-8 (RFC 8187, section 3.2, without a language).
enum ReasonHeader {
    static let name = "Ledger-Reason"
    private static let prefix = "utf-8''"
    private static let form =
        "\(AccessReason.form), in ASCII or as UTF-8'' with percent-encoding (RFC 8187)"

    static let parameter = Parameter(
        name: name, location: .header,
        schema: .text(
            "case 1",
            Schema.TextRules(
                pattern: "^([!-~]([ -~]{0,\(AccessReason.charactersMax - 2)}[!-~])?"
                    + "|[Uu][Tt][Ff]-8''([-!#$&+.^_`|~0-9A-Za-z]|%[0-9A-Fa-f]{2})"
                    + "{1,\(AccessReason.bytesMax)})$")),
        about: "The reason of the request, kept in the access log; other characters than those of"
            + " ASCII as `UTF-8''` with percent-encoding (RFC 8187)")

    /// Reads the reason; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one field that ``AccessReason`` allows.
    static func read(_ call: RouteCall) throws(APIError) -> String? {
        let values = try call.values(of: parameter)
        guard let value = values.first else { return nil }
        guard values.count == 1, let reason = reason(in: value), AccessReason.allows(reason) else {
            throw .invalidRequest(
                RequestFlaw("\(name) must be one field of \(form)", at: .header(name)))
        }
        return reason
    }

    /// Returns the text that a value stands for; nil for a malformed one.
    static func reason(in value: String) -> String? {
        let bytes = Array(value.utf8)
        guard bytes.prefix(prefix.utf8.count).map(lowercased).elementsEqual(prefix.utf8) else {
            return bytes.allSatisfy { (0x20...0x7E).contains($0) } ? value : nil
        }
        let encoded = bytes.dropFirst(prefix.utf8.count)
        guard encoded.count <= 3 * AccessReason.bytesMax, encoded.allSatisfy(isOfValue) else {
            return nil
        }
        return PercentEncoding.decode(String(decoding: encoded, as: UTF8.self))
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Whether a byte may stand in an encoded value: `attr-char` or the sign of an encoding.
    private static func isOfValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$&+-.^_`|~%".utf8.contains(byte)
        }
    }
}
