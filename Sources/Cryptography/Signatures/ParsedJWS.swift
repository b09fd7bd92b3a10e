/// A compact JWS taken apart under strict rules, its signature not yet checked (RFC 7515 section 7.1).
struct ParsedJWS {
    let header: CompactJWS.Header
    let payload: [UInt8]
    let signature: [UInt8]

    /// Nil unless the token has three parts in canonical base64url and a sound header.
    init?(_ token: String) {
        guard token.utf8.count <= CompactJWS.tokenBytesMax else {
            return nil
        }
        let parts = token.utf8.split(
            separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard
            parts.count == 3,
            let headerBytes = Base64URL.decode(utf8: parts[0]),
            let payload = Base64URL.decode(utf8: parts[1]),
            let signature = Base64URL.decode(utf8: parts[2]),
            let header = CompactJWS.Header(json: headerBytes)
        else {
            return nil
        }
        self.header = header
        self.payload = payload
        self.signature = signature
    }
}

extension CompactJWS.Header {
    /// Reads a header; nil when a known member has the wrong type or an extension is demanded.
    init?(json: [UInt8]) {
        guard
            let members = JSONValue(parsing: json)?.members,
            // RFC 7515 section 4.1.11: what is critical and not understood must be refused.
            members["crit"] == nil,
            let algorithm = members["alg"]?.string
        else {
            return nil
        }
        for name in ["kid", "typ"] {
            guard members[name] == nil || members[name]?.string != nil else {
                return nil
            }
        }
        self.init(alg: algorithm, kid: members["kid"]?.string, typ: members["typ"]?.string)
    }
}
