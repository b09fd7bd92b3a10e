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
}
