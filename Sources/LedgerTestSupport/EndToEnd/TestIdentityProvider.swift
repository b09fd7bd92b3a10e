package import Cryptography
internal import DevelopmentIdentityProvider
internal import Encodings
internal import Foundation
internal import HTTP
internal import JSON
internal import OpenID
internal import Synchronization

/// An identity provider for tests: an `ImitatedProvider` with arbitrary claims, whose key can change and whose
/// key set can be unavailable.
package final class TestIdentityProvider: Sendable {
    /// The key set is unavailable.
    package struct Down: Error {}

    private struct State {
        var key: RSASigningKey
        var fetches = 0
        var isDown = false
        var server: HTTPServer?
    }

    /// The `aud` that the services of the tests expect.
    package static let audience = "test-client"
    /// Generating a key is slow, so all providers of a test run share these.
    private static let keys = ["apple": RSASigningKey.generate(), "google": .generate()]
    /// A key that a provider publishes only after a rotation.
    package static let otherKey = RSASigningKey.generate()

    package let name: String
    /// The `iss` of its tokens.
    package let issuer: String
    private let state: Mutex<State>

    /// Creates the provider, without a server.
    package init(_ name: String) {
        self.name = name
        issuer = "https://\(name).example"
        state = Mutex(State(key: Self.keys[name] ?? Self.otherKey))
    }

    /// Publishes the key set on a free port.
    ///
    /// - Throws: an error of the listener.
    package func listen() throws {
        let server = try HTTPServer(
            host: "127.0.0.1", port: 0, limits: HTTPServerLimits(),
            reject: { _, _ in HTTPResponse(status: 400) },
            handler: { [weak self] _ in
                guard let body = try? self?.keySet() else { return HTTPResponse(status: 503) }
                return HTTPResponse(
                    status: 200, headers: [(name: "Content-Type", value: "application/json")],
                    body: body)
            })
        state.withLock { $0.server = server }
    }

    /// The URL of the key set of a provider that listens.
    package var keySetURL: String {
        "http://127.0.0.1:\(state.withLock { $0.server?.port ?? 0 })/jwks"
    }

    /// The number of fetches of the key set.
    package var fetchCount: Int { state.withLock(\.fetches) }

    /// Fetches the key set.
    ///
    /// - Throws: `Down`.
    package func keySet() throws(Down) -> [UInt8] {
        let key = state.withLock { state in
            state.fetches += 1
            return state.isDown ? nil : state.key
        }
        guard let key else { throw Down() }
        return Array(imitated(with: key).keySet.utf8)
    }

    /// Makes the provider unavailable or available again.
    package func setDown(_ isDown: Bool) {
        state.withLock { $0.isDown = isDown }
    }

    /// Signs with another key from now on, and publishes only that one.
    package func rotate() {
        state.withLock { state in
            let own = Self.keys[name] ?? Self.otherKey
            state.key = state.key.keyID == own.keyID ? Self.otherKey : own
        }
    }

    /// Creates an ID token, with a verified e-mail if any.
    ///
    /// - Parameters:
    ///   - subject: the person.
    ///   - nonce: the nonce as the token carries it.
    ///   - email: the e-mail.
    ///   - changes: replaces claims, in JSON; nil removes one.
    ///   - header: replaces header fields; with `alg` the signature is forged.
    ///   - other: the key that signs instead of the provider's.
    ///   - seconds: the time of issue since 1970.
    /// - Returns: the token.
    package func token(
        subject: String, nonce: String? = nil, email: String? = nil,
        changes: [String: String?] = [:], header: [String: String] = [:],
        signedBy other: RSASigningKey? = nil,
        at seconds: Int64 = Int64(Date().timeIntervalSince1970)
    ) -> String {
        let own = state.withLock(\.key)
        let provider = imitated(with: other ?? own)
        var claims = provider.claims(
            of: subject, for: Self.audience, nonce: nonce, email: email, at: seconds)
        for (name, value) in changes { claims[name] = value }
        // Only the signature of a foreign key is wrong: it has the key id of the provider's own.
        guard let algorithm = header["alg"] else {
            return provider.sign(claims, header: ["kid": own.keyID].merging(header) { $1 })
        }
        return Self.forge(header, claims, algorithm: algorithm, with: provider.key)
    }

    /// Creates a token with another algorithm than its key's; HS256 with the public key as the secret.
    private static func forge(
        _ header: [String: String], _ claims: [String: String], algorithm: String,
        with key: RSASigningKey
    ) -> String {
        let fields = ["kid": key.keyID, "typ": "JWT"].merging(header) { $1 }
        var head = JSONWriter()
        head.object(fields)
        let input = [head.bytes, ImitatedProvider.json(claims)]
            .map { Base64URL.encode($0) }.joined(separator: ".")
        let signature =
            algorithm == "HS256"
            ? HMACSHA256.mac(key: Array(key.publicJWK.utf8), Array(input.utf8))
            : Array(repeating: 7, count: 64)
        return input + "." + Base64URL.encode(signature)
    }

    private func imitated(with key: RSASigningKey) -> ImitatedProvider {
        ImitatedProvider(name: name, nonce: .raw, issuer: issuer, key: key)
    }

    /// Stops the server.
    package func stop() async {
        await state.withLock { $0.server.take() }?.stop(grace: .seconds(1))
    }
}
