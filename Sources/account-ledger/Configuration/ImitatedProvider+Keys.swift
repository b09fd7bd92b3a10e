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
        try DevelopmentIdentityProvider.names.map { name throws(Fault) in
            ImitatedProvider(
                name: name, nonce: name == "apple" ? .sha256 : .raw,
                issuer: "\(base)\(DevelopmentIdentityProvider.pathPrefix)\(name)",
                key: try directory.developmentKeyOrNew(of: name))
        }
    }
}
