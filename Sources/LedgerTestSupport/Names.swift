import Cryptography
package import Ledger

/// A provider's name that a test knows to be well formed.
///
/// - Precondition: the text is a provider's name.
package func provider(_ text: String) -> ProviderName {
    guard let name = ProviderName(text) else { preconditionFailure("\(text) is no provider") }
    return name
}

/// A subject that a test knows to be well formed.
///
/// - Precondition: provider and subject are well formed.
package func subject(_ providerName: String, _ providerID: String) -> ProviderIdentity {
    guard
        let identity = ProviderIdentity(provider: provider(providerName), providerID: providerID)
    else { preconditionFailure("\(providerID) is no subject") }
    return identity
}

/// A tenant that a test knows to be well formed.
///
/// - Precondition: the text is a tenant's name.
package func tenant(_ text: String) -> TenantID {
    guard let name = TenantID(text) else { preconditionFailure("\(text) is no tenant") }
    return name
}

/// SHA-256 as the model wants it.
package let sha256: HashFunction = { digest(SHA256.hash($0)) }
/// The RFC 6962 leaf hash as the model wants it.
package let leafHash: HashFunction = { digest(SHA256.leafHash($0)) }

/// A digest of 32 bytes.
///
/// - Precondition: there are 32.
package func digest(_ bytes: [UInt8]) -> Digest {
    guard let digest = Digest(bytes) else { preconditionFailure("a digest has 32 bytes") }
    return digest
}
