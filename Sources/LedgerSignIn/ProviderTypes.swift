package import Ledger
internal import OpenID

/// The settings of a provider, by its type.
///
/// The switches of this file are all that a type adds to this module besides its folder.
package enum ProviderSettings: Sendable {
    case oidc(OIDCSettings)
    case oauth2(OAuth2Settings)
    case anonymous(AnonymousSettings)

    /// Reads the members that the type adds to a provider's section.
    ///
    /// - Throws: `ProvidersFileFault`, which names the location.
    init(
        _ type: ProviderType, _ section: StrictObject, sharing keySets: inout SharedKeySets
    ) throws(ProvidersFileFault) {
        switch type {
        case .oidc: self = .oidc(try OIDCSettings(section, sharing: &keySets))
        case .oauth2: self = .oauth2(try OAuth2Settings(section))
        case .anonymous: self = .anonymous(try AnonymousSettings(section))
        }
    }

    /// The type of the provider.
    package var type: ProviderType {
        switch self {
        case .oidc: .oidc
        case .oauth2: .oauth2
        case .anonymous: .anonymous
        }
    }

    /// The type and the issuers, as the rules have them.
    var pin: ProviderPin {
        switch self {
        case .oidc(let settings): ProviderPin(type: type, issuers: settings.check.issuers)
        case .oauth2(let settings): ProviderPin(type: type, issuers: [settings.issuer])
        case .anonymous: ProviderPin(type: type, issuers: [])
        }
    }

    /// Checks a credential of the provider.
    func prove(
        _ body: CredentialBody, of provider: ProviderName, in tenant: TenantID,
        for purpose: ProofPurpose, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        switch (self, body) {
        case (.oidc(let settings), .oidc(let body)):
            try await OIDCProver(provider: provider, settings: settings)
                .prove(body, for: purpose, at: now)
        case (.oauth2(let settings), .oauth2(let body)):
            try await OAuth2Prover(provider: provider, settings: settings)
                .prove(body, for: purpose, at: now)
        case (.anonymous, .anonymous(let body)):
            try AnonymousProver(provider: provider).prove(body, of: tenant, for: purpose, at: now)
        // Another type's credential proves nothing.
        case (.oidc, _), (.oauth2, _), (.anonymous, _): throw .invalid
        }
    }
}

/// A credential as a client presents it, by the provider's type.
package enum CredentialBody: Sendable {
    case oidc(OIDCBody)
    case oauth2(OAuth2Body)
    case anonymous(AnonymousBody)

    /// Whether a sign-in with it may open an account: not with the secret of an anonymous account, which
    /// was there before.
    package var mayOpenAccount: Bool {
        switch self {
        case .oidc, .oauth2: true
        case .anonymous(let body): body.isNew
        }
    }

    /// The digest by which attempts with the same credential are recognised.
    package var digest: Digest {
        switch self {
        case .oidc(let body): body.digest
        case .oauth2(let body): body.digest
        case .anonymous(let body): body.digest
        }
    }
}
