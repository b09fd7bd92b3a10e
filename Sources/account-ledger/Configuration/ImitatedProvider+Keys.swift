import CommandLine
import Cryptography
import DevelopmentIdentityProvider
import OpenID

extension ImitatedProvider {
    /// Returns the imitated providers with the keys of the directory, and creates missing keys.
    ///
    /// Their issuers begin with the base, which is the same for every process of a ledger.
    static func all(keys directory: KeyDirectory, base: String) throws(Fault) -> [ImitatedProvider]
    {
        let names = DevelopmentIdentityProvider.names + [DevelopmentIdentityProvider.staffName]
        return try names.map { name throws(Fault) in
            ImitatedProvider(
                name: name, nonce: name == "apple" ? .sha256 : .raw,
                issuer: "\(base)\(DevelopmentIdentityProvider.pathPrefix)\(name)",
                key: try directory.developmentKeyOrNew(of: name))
        }
    }
}

extension AuthorizationCodes {
    /// The codes of browser flows, which every process of a ledger checks alike.
    static func all(
        _ secrets: (currentID: String, keys: [String: SymmetricKey])
    ) -> AuthorizationCodes {
        let secret = secrets.keys[secrets.currentID] ?? .generate()
        return AuthorizationCodes(
            key: HKDFSHA256.key(from: secret, label: "account-ledger development codes"))
    }
}

extension ImitatedTokenProvider {
    /// Returns the imitated providers of access tokens, which every process of a ledger checks alike.
    static func all(
        _ secrets: (currentID: String, keys: [String: SymmetricKey])
    ) -> [ImitatedTokenProvider] {
        guard let secret = secrets.keys[secrets.currentID] else { return [] }
        return names.map { name in
            ImitatedTokenProvider(
                name: name,
                key: HKDFSHA256.key(from: secret, label: "account-ledger development \(name)"))
        }
    }
}
