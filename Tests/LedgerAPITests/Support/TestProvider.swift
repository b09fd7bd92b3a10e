import Cryptography
import Ledger
import LedgerAPI
import OpenID
import Synchronization
import Testing

/// An identity provider with a real key, whose key set can be unavailable.
final class TestProvider: Sendable {
    let name: String
    let issuer: String
    private let key: RSASigningKey
    private let isAway = Atomic(false)

    /// Making an RSA key takes a tenth of a second, so every test shares these.
    private static let keys = ["apple": RSASigningKey.generate(), "google": .generate()]
    static let foreignKey = RSASigningKey.generate()

    init(_ name: String) {
        self.name = name
        issuer = "https://\(name).example"
        key = Self.keys[name] ?? Self.foreignKey
    }

    func goAway() { isAway.store(true, ordering: .relaxed) }

    func configuration(
        displayName: String? = nil, nonce: IDTokenPolicy.NonceMode = .raw,
        nonceRequired: Bool = false
    ) throws -> ProviderConfiguration {
        let document = Array("{\"keys\":[\(key.publicJWK)]}".utf8)
        return ProviderConfiguration(
            name: try #require(ProviderName(name)), displayName: displayName,
            check: IDTokenPolicy(
                issuers: [issuer], audiences: ["app"], algorithms: [.rs256], nonce: nonce,
                nonceRequired: nonceRequired),
            keys: KeySetCache(
                url: "\(issuer)/keys",
                fetch: { [self] _ in
                    if isAway.load(ordering: .relaxed) { throw JWKSFetchFault.unreachable }
                    return FetchedKeySet(body: document, maxAgeSeconds: nil)
                }))
    }

    /// Signs an ID token; claims replace the usual ones, and a nil leaves one out.
    func token(
        _ subject: String, at now: Timestamp, claims: [String: String?] = [:],
        signedBy other: RSASigningKey? = nil
    ) -> String {
        var members: [String: String?] = [
            "iss": "\"\(issuer)\"", "aud": "\"app\"", "sub": "\"\(subject)\"",
            "iat": "\(now.seconds)", "exp": "\(now.seconds + 3600)",
            "email": "\"\(subject)@example.com\"", "email_verified": "true",
        ]
        members.merge(claims) { _, given in given }
        let json = members.sorted { $0.key < $1.key }
            .compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            .joined(separator: ",")
        return (other ?? key).sign(header: ["kid": key.keyID], claims: Array("{\(json)}".utf8))
    }
}
