internal import Cryptography
internal import HTTP
package import Ledger

/// The identifier of a request in answers, logs and entries.
///
/// A client may set it with `X-Request-Id`. An entry holds only identifiers: a name that is a UUID
/// is used as it is, and any other name becomes the UUIDv8 (RFC 9562, section 5.8) of the first 128
/// bits of the name's SHA-256, of which version and variant replace six. Support can compute it
/// from the name that a client reports.
package struct RequestName {
    /// The maximum length of a client's name, in characters.
    static let charactersMax = 128
    static let header = "X-Request-Id"

    static let parameter = Parameter(
        name: header, location: .header,
        schema: .text(
            "r-1",
            Schema.TextRules(pattern: "^[A-Za-z0-9._:-]+$", lengths: 1...charactersMax)),
        about: "The client's name for the request, returned and recorded; any other text is ignored"
    )

    let text: String
    let id: RequestID

    /// Uses the client's name when it is one field of letters, digits, `.`, `_`, `:` and `-`;
    /// otherwise creates one.
    init(_ headers: HTTPHeaders, making make: () -> RequestID) {
        let values = headers.values(Self.header)
        guard values.count == 1, Self.isName(values[0]) else {
            id = make()
            text = id.description
            return
        }
        text = values[0]
        id = RequestID(text) ?? Self.id(for: text)
    }

    /// Returns the id in entries of a request that its client named so; nil for an invalid name.
    package static func requestID(named text: String) -> RequestID? {
        isName(text) ? RequestID(text) ?? id(for: text) : nil
    }

    private static func isName(_ text: String) -> Bool {
        (1...charactersMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                    UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    private static func id(for name: String) -> RequestID {
        let digest = SHA256.hash(name)
        let bits = digest.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let versionMask = UInt128(0xF) << 76
        let variantMask = UInt128(0b11) << 62
        return RequestID(
            bits: bits & ~versionMask & ~variantMask | UInt128(0x8) << 76 | UInt128(0b10) << 62)
    }
}
