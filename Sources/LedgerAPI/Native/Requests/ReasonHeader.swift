internal import Encodings
internal import Ledger

/// The `Ledger-Reason` field, or the member `reason` of a body: why personal data or a change on another's behalf is
/// requested.
///
/// The field is plain ASCII, or `UTF-8''` and percent-encoded UTF-8 (RFC 8187, section 3.2, without a language).
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

    /// The field of a request whose body may have the reason instead.
    static let beside = parameter.about(
        "The reason of the request, in place of `reason` in the body")

    /// The reason in a body, which needs no encoding.
    static let member = OptionalText(
        name: "reason", bytesMax: AccessReason.bytesMax,
        about:
            "The reason of the request, kept in the access log: \(AccessReason.form). It stands here"
            + " or in `\(name)`; in both, it is the same",
        example: "case 1", isInExample: true)

    /// Reads the reason; nil when the request has none.
    ///
    /// - Throws: `invalidRequest` unless it is one text that ``AccessReason`` allows.
    static func read(_ call: RouteCall) throws(APIError) -> String? {
        let header = try field(of: call)
        guard let form = call.operation.body,
            form.members.contains(where: { $0.name == member.name }),
            let written = try call.body().text(member)
        else { return header }
        guard AccessReason.allows(written) else {
            throw .invalidRequest(
                RequestFlaw("reason must be \(AccessReason.form)", at: .field(member.name)))
        }
        guard header == nil || header == written else {
            throw .invalidRequest(
                RequestFlaw(
                    "reason and \(name) must be the same, or only one of them be there",
                    at: .field(member.name)))
        }
        return written
    }

    private static func field(of call: RouteCall) throws(APIError) -> String? {
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
