import JSON

/// The accepted signature algorithms of RFC 7518 section 3.
///
/// There is no case for `none` or for HMAC: no configuration can allow them.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"

    /// Finds the algorithm of exactly this name.
    init?(exactly name: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.isExactly(name) }) else {
            return nil
        }
        self = found
    }

    /// Checks whether a key of the given kind can make such signatures.
    func fits(_ parameters: JWKParameters) -> Bool {
        switch (self, parameters) {
        case (.rs256, .rsa), (.rs384, .rsa), (.rs512, .rsa), (.ps256, .rsa), (.es256, .p256): true
        case (.rs256, .p256), (.rs384, .p256), (.rs512, .p256), (.ps256, .p256), (.es256, .rsa):
            false
        }
    }
}
