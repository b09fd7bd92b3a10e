internal import Cryptography
internal import Ledger

/// The credential of an OAuth 2.0 provider as a client presents it.
package struct OAuth2Body: Sendable {
    package let accessToken: String

    /// Describes a credential.
    package init(accessToken: String) {
        self.accessToken = accessToken
    }

    /// SHA-256 of the access token.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash(accessToken)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }

    /// Whether the token has the characters of a bearer token (RFC 6750, section 2.1), so that it can
    /// stand in a header field.
    var isWellFormed: Bool {
        let text = accessToken.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        return !text.isEmpty && text.allSatisfy(Self.isTokenByte)
    }

    // Facebook's tokens of an app have a vertical bar.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/|".utf8.contains(byte)
        }
    }
}
