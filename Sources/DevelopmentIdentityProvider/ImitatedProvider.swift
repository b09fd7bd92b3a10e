package import Cryptography
internal import Encodings
internal import JSON
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

    /// The key set with its key, as JSON.
    package var keySet: String {
        var writer = JSONWriter()
        writer.object(writeKeySet)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Writes the members of a key set (RFC 7517, section 5).
    func writeKeySet(to writer: inout JSONWriter) {
        writer.name("keys")
        writer.array { $0.json(Array(key.publicJWK.utf8)) }
    }

    /// Returns the subject for a name: stable, and different for each provider.
    func subject(of name: String) -> String {
        Hex.encode(Array(SHA256.hash(Array("\(self.name)/\(name)".utf8)).prefix(12)))
    }

    /// Mints an ID token for a client's nonce at a time in seconds since 1970.
    func mint(_ request: TokenRequest, now: Int64) -> String {
        mint(request, carrying: request.nonce.map(carried), now: now)
    }

    /// Mints an ID token with a nonce as it is.
    func mint(_ request: TokenRequest, carrying nonce: String?, now: Int64) -> String {
        var claims = claims(
            of: subject(of: request.name), for: request.audience, nonce: nonce,
            email: request.email, at: now)
        // Without the time, nothing would state when a second factor was used.
        let authTime = request.authTime ?? (request.methods.isEmpty ? nil : now)
        claims["auth_time"] = authTime.map { "\($0)" }
        if !request.methods.isEmpty { claims["amr"] = Self.list(request.methods) }
        claims["name"] = Self.quoted(request.name)
        if let role = request.role {
            claims["groups"] = Self.list(role.split(separator: " ").map(String.init))
        }
        return sign(claims)
    }

    /// Returns the claims of an ID token, by name and as JSON (OpenID Connect Core 1.0, section 2).
    ///
    /// - Parameters:
    ///   - subject: the person at this provider.
    ///   - audience: the client that the token is for.
    ///   - nonce: the nonce as the token carries it.
    ///   - email: a verified e-mail.
    ///   - now: the time of issue, in seconds since 1970.
    /// - Returns: the claims, without those whose value is nil.
    package func claims(
        of subject: String, for audience: String, nonce: String?, email: String?, at now: Int64
    ) -> [String: String] {
        var claims = [
            "iss": Self.quoted(issuer), "sub": Self.quoted(subject),
            "aud": Self.quoted(audience), "iat": "\(now)",
            "exp": "\(now + Self.lifetimeSeconds)",
        ]
        claims["nonce"] = nonce.map(Self.quoted)
        claims["email"] = email.map(Self.quoted)
        claims["email_verified"] = email.map { _ in "true" }
        return claims
    }

    /// Signs claims as an ID token of this provider; `header` replaces header fields.
    package func sign(_ claims: [String: String], header: [String: String] = [:]) -> String {
        key.sign(
            header: ["kid": key.keyID, "typ": "JWT"].merging(header) { $1 },
            claims: Self.json(claims))
    }

    /// Returns claims as a JSON object.
    package static func json(_ claims: [String: String]) -> [UInt8] {
        let members = claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.text(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func list(_ texts: [String]) -> String {
        "[\(texts.map(quoted).joined(separator: ","))]"
    }

    private func carried(_ nonce: String) -> String {
        switch self.nonce {
        case .sha256: Hex.encode(SHA256.hash(Array(nonce.utf8)))
        case .raw, .none: nonce
        }
    }
}
