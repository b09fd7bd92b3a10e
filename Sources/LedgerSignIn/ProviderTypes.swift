package import Ledger
internal import OpenID
internal import Passkeys

/// The settings of a provider, by its type.
///
/// The switches of this file and of `ProviderTypes+Flows.swift` are all that a type adds to this module besides its
/// folder.
package enum ProviderSettings: Sendable {
    case oidc(OIDCSettings)
    case oauth2(OAuth2Settings)
    case anonymous(AnonymousSettings)
    /// A provider of type `email` or `phone`.
    case code(CodeSettings)
    case password(PasswordSettings)
    case passkey(PasskeySettings)

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
        case .password: self = .password(try PasswordSettings(section))
        case .passkey: self = .passkey(try PasskeySettings(section))
        case .email: self = .code(try CodeSettings(section, .email))
        case .phone: self = .code(try CodeSettings(section, .phone))
        }
    }

    /// The type of the provider.
    package var type: ProviderType {
        switch self {
        case .oidc: .oidc
        case .oauth2: .oauth2
        case .anonymous: .anonymous
        case .code(let settings): settings.kind == .email ? .email : .phone
        case .password: .password
        case .passkey: .passkey
        }
    }

    /// The type and the issuers, as the rules have them.
    var pin: ProviderPin {
        switch self {
        case .oidc(let settings): ProviderPin(type: type, issuers: settings.check.issuers)
        case .oauth2(let settings): ProviderPin(type: type, issuers: [settings.issuer])
        case .anonymous, .code, .password: ProviderPin(type: type, issuers: [])
        case .passkey(let settings):
            ProviderPin(type: type, issuers: [settings.relyingParty.id])
        }
    }

    /// Adds the rules that are settings of the provider to a tenant's.
    func addRules(of provider: ProviderName, to policy: inout TenantPolicy) {
        switch self {
        case .oidc(let settings):
            policy.secondFactorMethods[provider] = AuthenticationMethods(
                settings.secondFactorMethods.sorted().joined(separator: " "))
        case .passkey(let settings):
            if !settings.refusesCounterRollback {
                policy.counterRollbackProviders.insert(provider)
            }
        case .oauth2, .anonymous, .code, .password: break
        }
    }

    /// Checks a credential of the provider.
    func prove(
        _ body: CredentialBody, of provider: ProviderName, in tenant: TenantID,
        for purpose: ProofPurpose, by client: CodeClient?, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        if case .flow(let body) = body {
            guard flow != nil, let client else { throw .invalid }
            return try client.flows.prove(
                body, of: provider, in: tenant, for: purpose, by: client.caller, at: now)
        }
        switch (self, body) {
        case (.oidc(let settings), .oidc(let body)):
            return try await OIDCProver(provider: provider, settings: settings)
                .prove(body, for: purpose, at: now)
        case (.oauth2(let settings), .oauth2(let body)):
            return try await OAuth2Prover(provider: provider, settings: settings)
                .prove(body, by: client, in: tenant, for: purpose, at: now)
        case (.anonymous, .anonymous(let body)):
            return try AnonymousProver(provider: provider)
                .prove(body, of: tenant, for: purpose, at: now)
        case (.code, .code(let body)):
            guard let client else { throw .unsupported }
            return try await CodeProver(provider: provider)
                .prove(body, by: client, in: tenant, for: purpose, at: now)
        case (.password, .password(let body)):
            guard let client else { throw .unsupported }
            return try await PasswordProver(provider: provider)
                .prove(body, by: client, in: tenant, for: purpose, at: now)
        case (.passkey(let settings), .passkey(let body)):
            guard let client else { throw .unsupported }
            return try await PasskeyProver(
                provider: provider, settings: settings, checks: client.passkeys,
                caller: client.caller
            ).prove(body, in: tenant, for: purpose, at: now)
        // Another type's credential proves nothing.
        case (.oidc, _), (.oauth2, _), (.anonymous, _), (.code, _), (.password, _), (.passkey, _):
            throw .invalid
        }
    }
}

/// A credential as a client presents it, by the provider's type.
package enum CredentialBody: Sendable {
    case oidc(OIDCBody)
    case oauth2(OAuth2Body)
    case anonymous(AnonymousBody)
    case code(CodeBody)
    case password(PasswordBody)
    case passkey(PasskeyBody)
    /// Of any type with browser flows.
    case flow(FlowBody)

    /// Whether a sign-in with it may open an account: not with the secret of an anonymous account, which
    /// was there before.
    package var mayOpenAccount: Bool {
        switch self {
        case .oidc, .oauth2, .code, .flow: true
        case .anonymous(let body): body.isNew
        case .password(let body): body.mayOpenAccount
        case .passkey(let body): body.isRegistration
        }
    }

    /// The token by which a device is recognised that has proved an address before.
    package var deviceToken: String? {
        switch self {
        case .code(let body): body.deviceToken
        case .password(let body): body.deviceToken
        case .oidc, .oauth2, .anonymous, .passkey, .flow: nil
        }
    }

    /// The digest by which attempts with the same credential are recognised.
    package var digest: Digest {
        switch self {
        case .oidc(let body): body.digest
        case .oauth2(let body): body.digest
        case .anonymous(let body): body.digest
        case .code(let body): body.digest
        case .password(let body): body.digest
        case .passkey(let body): body.digest
        case .flow(let body): body.digest
        }
    }
}
