internal import Cryptography
internal import HTTP
package import Ledger

/// How a request is called in answers, logs and entries.
///
/// A client may name its request by `X-Request-Id`. An entry holds only identifiers, so a name that
/// is a UUID stands there as it is, and any other name as the UUIDv8 (RFC 9562, section 5.8) that is
/// made of the first 128 bits of the name's SHA-256, of which version and variant take six: support can
/// compute it from the name that a client reports.
package struct RequestName {
    /// The longest name that is taken from a client, in characters.
    static let charactersMax = 128
    static let header = "X-Request-Id"

    let text: String
    let id: RequestID

    /// Takes the client's name when it is one field of letters, digits, `.`, `_`, `:` and `-`; else
    /// makes one.
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

    /// How entries call a request that its client named so; nil for what can be no name.
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
