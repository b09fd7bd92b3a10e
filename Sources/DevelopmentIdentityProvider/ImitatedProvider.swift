package import Cryptography
internal import Encodings
internal import Foundation
package import OpenID

/// An imitated provider with a real key and real ID tokens.
package struct ImitatedProvider: Sendable {
    private static let lifetimeSeconds: Int64 = 3_600

    /// Its name in paths, such as `google`.
    package let name: String
    /// The form of the nonce in its tokens: Apple hashes the client's nonce.
    package let nonce: IDTokenPolicy.NonceMode
    /// The issuer that its tokens name.
    package let issuer: String
    /// The key that signs its tokens.
    package let key: RSASigningKey

    /// Describes a provider.
    package init(name: String, nonce: IDTokenPolicy.NonceMode, issuer: String, key: RSASigningKey) {
        self.name = name
        self.nonce = nonce
        self.issuer = issuer
        self.key = key
    }

    /// Returns the subject for a name: stable, and different for each provider.
    func subject(of name: String) -> String {
        Hex.encode(Array(SHA256.hash(Array("\(self.name)/\(name)".utf8)).prefix(12)))
    }

    /// Mints an ID token at a time in seconds since 1970 (OpenID Connect Core 1.0, section 2).
    func mint(_ request: TokenRequest, now: Int64) throws -> String {
        let claims = Claims(
            iss: issuer, sub: subject(of: request.name), aud: request.audience,
            exp: now + Self.lifetimeSeconds, iat: now, authTime: request.authTime,
            nonce: request.nonce.map(carried), email: request.email,
            emailVerified: request.email.map { _ in true }, name: request.name)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return key.sign(
            header: ["kid": key.keyID, "typ": "JWT"], claims: Array(try encoder.encode(claims)))
    }

    private func carried(_ nonce: String) -> String {
        switch self.nonce {
        case .sha256: Hex.encode(SHA256.hash(Array(nonce.utf8)))
        case .raw, .none: nonce
        }
    }

    private struct Claims: Encodable {
        let iss: String
        let sub: String
        let aud: String
        let exp: Int64
        let iat: Int64
        let authTime: Int64?
        let nonce: String?
        let email: String?
        let emailVerified: Bool?
        let name: String

        enum CodingKeys: String, CodingKey {
            case iss, sub, aud, exp, iat, nonce, email, name
            case authTime = "auth_time"
            case emailVerified = "email_verified"
        }
    }
}
