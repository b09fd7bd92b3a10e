internal import Cryptography
internal import Encodings
internal import Foundation
internal import HTTP
internal import Synchronization

/// An identity provider for tests: real RSA keys, a JWKS over HTTP, and arbitrary claims.
package final class TestIdentityProvider: Sendable {
    private struct Keys {
        var current: RSASigningKey
        var published: [RSASigningKey]
        var fetches = 0
        var isDown = false
    }

    /// The `aud` that the deployments of the tests expect.
    package static let audience = "test-client"
    /// Generating a key is slow, so all providers of a test run share one pair.
    private static let keyPair = (RSASigningKey.generate(), RSASigningKey.generate())

    package let name: String
    /// The `iss` of its tokens.
    package let issuer: String
    private let server: HTTPServer
    private let keys: Published

    /// Starts the provider on a free port.
    ///
    /// - Throws: an error of the listener.
    package init(name: String) throws {
        self.name = name
        issuer = "https://\(name).example"
        let keys = Published(Self.keyPair.0)
        self.keys = keys
        server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { _ in keys.answer() })
    }

    /// The URL of the JWKS.
    package var keySetURL: String { "http://127.0.0.1:\(server.port)/jwks" }

    /// The number of fetches of the JWKS.
    package var fetchCount: Int { keys.state.withLock(\.fetches) }

    /// Makes the provider unavailable or available again.
    package func setDown(_ isDown: Bool) {
        keys.state.withLock { $0.isDown = isDown }
    }

    /// Signs with another key from now on, and publishes only that one.
    package func rotate() {
        keys.state.withLock { state in
            state.current =
                state.current.keyID == Self.keyPair.0.keyID ? Self.keyPair.1 : Self.keyPair.0
            state.published = [state.current]
        }
    }

    /// Creates an ID token with a verified e-mail; `changes` replace claims, null removes one, and `header`
    /// replaces header fields.
    package func token(
        subject: String, nonce: String? = nil, email: String? = nil,
        changes: [String: any Sendable] = [:], header: [String: String] = [:]
    ) -> String {
        let now = Int(Date().timeIntervalSince1970)
        var claims: [String: Any] = [
            "iss": issuer, "aud": Self.audience, "sub": subject, "iat": now, "exp": now + 3600,
        ]
        claims["nonce"] = nonce
        claims["email"] = email
        claims["email_verified"] = email.map { _ in true }
        for (name, value) in changes {
            if value is NSNull {
                claims[name] = nil
            } else {
                claims[name] = value
            }
        }
        let key = keys.state.withLock(\.current)
        let body = (try? JSONSerialization.data(withJSONObject: claims)) ?? Data()
        var fields = ["alg": "RS256", "kid": key.keyID, "typ": "JWT"]
        guard let forged = header["alg"] else {
            fields.merge(header) { $1 }
            return key.sign(header: fields, claims: Array(body))
        }
        fields.merge(header) { $1 }
        return Self.forge(fields, Array(body), algorithm: forged, with: key)
    }

    /// Creates a token with another algorithm than its key's; HS256 with the public key as the secret.
    private static func forge(
        _ header: [String: String], _ claims: [UInt8], algorithm: String, with key: RSASigningKey
    ) -> String {
        let encoded = (try? JSONSerialization.data(withJSONObject: header)) ?? Data()
        let input = Base64URL.encode(Array(encoded)) + "." + Base64URL.encode(claims)
        let signature =
            algorithm == "HS256"
            ? HMACSHA256.code(key: Array(key.publicJWK.utf8), Array(input.utf8))
            : Array(repeating: 7, count: 64)
        return input + "." + Base64URL.encode(signature)
    }

    /// Stops the listener.
    package func stop() async {
        await server.stop(grace: .seconds(1))
    }

    private final class Published: Sendable {
        let state: Mutex<Keys>

        init(_ key: RSASigningKey) {
            state = Mutex(Keys(current: key, published: [key]))
        }

        func answer() -> HTTPResponse {
            let (isDown, keys) = state.withLock { state in
                state.fetches += 1
                return (state.isDown, state.published)
            }
            guard !isDown else { return HTTPResponse(status: 503) }
            let body = "{\"keys\":[\(keys.map(\.publicJWK).joined(separator: ","))]}"
            return HTTPResponse(
                status: 200,
                headers: [(name: "Content-Type", value: "application/json")],
                body: Array(body.utf8))
        }
    }
}
