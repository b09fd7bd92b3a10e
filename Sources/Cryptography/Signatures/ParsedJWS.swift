import Encodings
internal import Glibc
import JSON

/// A strictly parsed compact JWS, with an unchecked signature (RFC 7515 section 7.1).
package struct ParsedJWS: Sendable {
    /// The header; nothing vouches for it before the signature is verified.
    package let header: CompactJWS.Header
    /// The decoded payload.
    package let payload: [UInt8]
    let signature: [UInt8]
    private let token: String
    /// The number of bytes before the second dot, which are the signed ones.
    private let signedByteCount: Int

    /// Parses a token; nil unless it has three parts in canonical base64url and a valid header.
    package init?(_ token: String) {
        guard token.utf8.count <= CompactJWS.tokenBytesMax else {
            return nil
        }
        var token = token
        let parts = token.withUTF8 { bytes in unsafe Parts(bytes) }
        guard let parts else {
            return nil
        }
        header = parts.header
        payload = parts.payload
        signature = parts.signature
        self.token = token
        signedByteCount = parts.signedByteCount
    }

    /// Checks the signature with a key and an algorithm that fits it.
    func isSigned(with key: PublicKey, by algorithm: SignatureAlgorithm) -> Bool {
        var token = token
        return token.withUTF8 { bytes in
            let signed = unsafe UnsafeRawBufferPointer(bytes).prefix(signedByteCount)
            return unsafe key.verifies(
                signature, of: UnsafeRawBufferPointer(rebasing: signed), by: algorithm)
        }
    }
}

/// The three parts of a compact JWS, decoded.
private struct Parts {
    let header: CompactJWS.Header
    let payload: [UInt8]
    let signature: [UInt8]
    let signedByteCount: Int

    init?(_ token: UnsafeBufferPointer<UInt8>) {
        guard
            let first = unsafe Self.dot(in: token, from: 0),
            let second = unsafe Self.dot(in: token, from: first + 1),
            // A third dot is not in the alphabet, so it is refused in the signature.
            let header = unsafe JWSHeaders.header(
                encoded: UnsafeBufferPointer(rebasing: token[..<first])),
            let payload = unsafe Base64URL.decode(token.span.extracting(first + 1..<second)),
            let signature = unsafe Base64URL.decode(token.span.extracting((second + 1)...))
        else {
            return nil
        }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedByteCount = second
    }

    private static func dot(in token: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard
            let first = token.baseAddress,
            let found = unsafe memchr(
                first + start, Int32(UInt8(ascii: ".")), token.count - start)
        else {
            return nil
        }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(first)
    }
}

extension CompactJWS.Header {
    /// Parses a header; nil when a known member has the wrong type or `crit` demands an extension.
    init?(json: [UInt8]) {
        guard
            let members = JSONValue(parsing: json)?.members,
            // RFC 7515 section 4.1.11: unknown critical extensions must be refused.
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
