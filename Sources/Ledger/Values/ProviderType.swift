/// The closed list of types of provider: how a person proves to be one of a provider's subjects.
///
/// A type's name stands in configurations and in entries, and never changes.
package enum ProviderType: String, Hashable, Sendable, CaseIterable {
    /// An OpenID Connect issuer, whose ID tokens are the proof.
    case oidc
    /// An OAuth 2.0 provider that tells for which client and person it made an access token.
    case oauth2
    /// The ledger itself, which gives each new account a secret: for accounts of people who have proved
    /// nothing yet.
    case anonymous
    /// An e-mail address, to which the ledger sends codes.
    case email
    /// An e-mail address with a password.
    case password
    /// A phone number, to which the ledger sends codes.
    case phone
    /// A WebAuthn credential, which signs a challenge of the ledger.
    case passkey

    /// The kind of the addresses by which accounts are found; nil when they are found by subjects.
    package var addressKind: AddressKind? {
        switch self {
        case .oidc, .oauth2, .anonymous, .passkey: nil
        case .email, .password: .email
        case .phone: .phone
        }
    }

    /// Whether the provider is another party, which names the subjects of its identities.
    package var isFederated: Bool { self == .oidc || self == .oauth2 }
}
