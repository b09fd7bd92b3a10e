import Cryptography
import OpenID

/// The claims of a valid ID token, and ways to invalidate them; each value is JSON text.
struct Claims: Sendable {
    static let now: Int64 = 1_700_000_000

    private var members: [(name: String, json: String)] = [
        (name: "iss", json: #""https://issuer.example""#),
        (name: "aud", json: #""client-1""#),
        (name: "sub", json: #""subject-1""#),
        (name: "iat", json: "\(now - 10)"),
        (name: "exp", json: "\(now + 3_600)"),
    ]

    func with(_ name: String, _ json: String) -> Claims {
        var copy = without(name)
        copy.members.append((name: name, json: json))
        return copy
    }

    func without(_ name: String) -> Claims {
        var copy = self
        copy.members.removeAll { $0.name == name }
        return copy
    }

    /// Adds a member even when there is one of that name.
    func adding(_ name: String, _ json: String) -> Claims {
        var copy = self
        copy.members.append((name: name, json: json))
        return copy
    }

    var json: [UInt8] {
        Array(
            ("{" + members.map { #""\#($0.name)":\#($0.json)"# }.joined(separator: ",") + "}").utf8)
    }
}

/// The provider of the tests and the checker that trusts it.
enum Issuer {
    static let key = RSASigningKey.generate()
    static let keys = KeySet([key.verificationKey])

    static func checker(
        algorithms: Set<SignatureAlgorithm> = [.rs256], nonce: IDTokenPolicy.NonceMode = .raw,
        nonceRequired: Bool = false
    ) -> IDTokenChecker {
        IDTokenChecker(
            policy: IDTokenPolicy(
                issuers: ["https://issuer.example", "issuer.example"],
                audiences: ["client-1", "client-2"], algorithms: algorithms, nonce: nonce,
                nonceRequired: nonceRequired))
    }

    static func token(_ claims: Claims) -> String {
        key.sign(header: ["kid": key.keyID, "typ": "JWT"], claims: claims.json)
    }

    /// Returns the reason why a token is refused; nil if it is valid.
    static func fault(
        _ token: String, nonce: String? = nil, keys: KeySet = keys,
        checker: IDTokenChecker = checker()
    ) -> IDTokenFault? {
        do {
            _ = try checker.check(token, nonce: nonce, keys: keys, now: Claims.now)
            return nil
        } catch {
            return error
        }
    }
}
