import Cryptography
package import Ledger

/// Creates a provider name from a well-formed text.
///
/// - Precondition: the text is a provider's name.
package func provider(_ text: String) -> ProviderName {
    guard let name = ProviderName(text) else { preconditionFailure("\(text) is not a provider") }
    return name
}

/// Creates a subject from well-formed texts.
///
/// - Precondition: provider and subject are well formed.
package func subject(_ providerName: String, _ providerID: String) -> Subject {
    guard
        let subject = Subject(provider: provider(providerName), providerID: providerID)
    else { preconditionFailure("\(providerID) is not a subject") }
    return subject
}

/// Creates a tenant id from a well-formed text.
///
/// - Precondition: the text is a tenant's name.
package func tenant(_ text: String) -> TenantID {
    guard let name = TenantID(text) else { preconditionFailure("\(text) is not a tenant") }
    return name
}

/// Creates an external id of the system `auth0` from a well-formed text.
///
/// - Precondition: the text is an external id.
package func externalName(_ id: String) -> ExternalName {
    guard let source = NameSource("auth0"), let name = ExternalName(source: source, id: id) else {
        preconditionFailure("\(id) is not an external id")
    }
    return name
}

/// SHA-256 in the model's form.
package let sha256: HashFunction = { digest(SHA256.hash($0)) }
/// The RFC 6962 leaf hash in the model's form.
package let leafHash: HashFunction = { digest(SHA256.leafHash($0)) }

/// Creates a digest from 32 bytes.
///
/// - Precondition: there are 32.
package func digest(_ bytes: [UInt8]) -> Digest {
    guard let digest = Digest(bytes) else { preconditionFailure("a digest has 32 bytes") }
    return digest
}
