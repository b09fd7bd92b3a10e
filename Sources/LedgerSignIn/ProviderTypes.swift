package import Ledger
internal import OpenID

/// The settings of a provider, by its type.
///
/// The switches of this file are all that a type adds to this module besides its folder.
package enum ProviderSettings: Sendable {
    case oidc(OIDCSettings)
    case oauth2(OAuth2Settings)

    /// Reads the members that the type adds to a provider's section.
    ///
    /// - Throws: `ProvidersFileFault`, which names the location.
    init(
        _ type: ProviderType, _ section: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) {
        switch type {
        case .oidc: self = .oidc(try OIDCSettings(section, sharing: &keySets))
        case .oauth2: self = .oauth2(try OAuth2Settings(section))
        }
    }

    /// The type of the provider.
    package var type: ProviderType {
        switch self {
        case .oidc: .oidc
        case .oauth2: .oauth2
        }
    }

    /// The type and the issuers, as the rules have them.
    var pin: ProviderPin {
        switch self {
        case .oidc(let settings): ProviderPin(type: type, issuers: settings.check.issuers)
        case .oauth2(let settings): ProviderPin(type: type, issuers: [settings.issuer])
        }
    }

    /// Checks a credential of the provider.
    func prove(
        _ body: CredentialBody, of provider: ProviderName, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        switch (self, body) {
        case (.oidc(let settings), .oidc(let body)):
            try await OIDCProver(provider: provider, settings: settings)
                .prove(body, for: purpose, at: now)
        case (.oauth2(let settings), .oauth2(let body)):
            try await OAuth2Prover(provider: provider, settings: settings)
                .prove(body, for: purpose, at: now)
        // Another type's credential proves nothing.
        case (.oidc, .oauth2), (.oauth2, .oidc): throw .invalid
        }
    }
}

/// A credential as a client presents it, by the provider's type.
package enum CredentialBody: Sendable {
    case oidc(OIDCBody)
    case oauth2(OAuth2Body)

    /// The digest by which attempts with the same credential are recognised.
    package var digest: Digest {
        switch self {
        case .oidc(let body): body.digest
        case .oauth2(let body): body.digest
        }
    }
}
