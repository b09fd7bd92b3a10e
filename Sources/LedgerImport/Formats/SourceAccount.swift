package import Ledger

/// The data of an account that the ledger does not keep.
package enum Loss: String, Hashable, Sendable, CaseIterable {
    /// Names, pictures, metadata and claims.
    case profile
    /// A name to sign in with that is no address.
    case username
    /// Second factors: the person enrols them again.
    case secondFactors = "second_factors"
    /// An address that was never verified, and that the account does not claim, finds no account.
    case unverifiedAddress = "unverified_address"
    /// An address that the ledger's rules refuse.
    case invalidAddress = "invalid_address"
    /// The tenant has no provider for sign-ins with the address.
    case addressWithoutProvider = "address_without_provider"
    /// The account has a password, and the file has no hash of it.
    case passwordNotInFile = "password_not_in_file"
    /// The account has, or may have, identities that the file lacks.
    case identitiesNotInFile = "identities_not_in_file"
    /// A password for sign-ins with a phone number: the ledger's are for an e-mail.
    case passwordOfPhone = "password_of_phone"
    /// The hash is of a scheme that is not supported, or costs too much.
    case unsupportedHash = "unsupported_hash"
    /// The tenant has no provider of this name; see `--provider`.
    case unknownProvider = "unknown_provider"
    /// The id of the identity is empty or too long.
    case invalidSubject = "invalid_subject"
    /// The account has more identities than the maximum; the first ones are imported.
    case tooManyIdentities = "too_many_identities"
    /// A second address of the person's own, of which an account has one of each kind, or one that no provider has.
    case furtherAddress = "further_address"
}

/// A record of a file, read.
package enum SourceRecord: Sendable {
    case account(SourceAccount)
    case flaw(RecordFlaw)
}

/// An account of another system, as its export describes it.
package struct SourceAccount: Hashable, Sendable {
    /// An identity at another provider.
    package struct Federated: Hashable, Sendable {
        /// The name in the other system by which the tenant's provider is found.
        package var provider: String
        package var subject: String
        package var email: String?
        /// Whether the provider verified the e-mail; nil when the file does not say.
        package var isEmailVerified: Bool?
        /// The names by which the operator gives the tenant's provider, the first of them first; empty for
        /// the one of the provider.
        package var givenNames: [String] = []
    }

    /// An address with which the person signs in.
    package struct Own: Hashable, Sendable {
        package var text: String
        package var isVerified: Bool

        /// Describes an address.
        package init(text: String, isVerified: Bool) {
            self.text = text
            self.isVerified = isVerified
        }
    }

    /// The maximum number of identities that are imported, which bounds the events of an account.
    package static let identitiesMax = 64

    /// The id in the other system.
    package var id: String
    package var federated: [Federated] = []
    /// The address for a sign-in with a password or a code; nil when the e-mail is only a provider's.
    package var email: Own?
    package var phone: Own?
    /// The hash in the form that `Passwords` reads.
    package var hash: String?
    /// Whether the person has a password, and not only codes.
    package var hasPassword = false
    /// Whether the person signs in with codes sent to the e-mail.
    package var hasCodes = false
    package var isDisabled = false
    package var losses: [Loss] = []

    /// Describes an account without any way to sign in.
    package init(id: String) {
        self.id = id
    }

    /// The maximum number of events of its import.
    package var eventsMax: Int {
        // The account, its name, a block; an address with two ways and a password, a number with one, and
        // the release of each by an account that had claimed it.
        3 + min(federated.count, Self.identitiesMax) + (email == nil ? 0 : 5)
            + (phone == nil ? 0 : 3)
    }

    mutating func lose(_ loss: Loss, if isLost: Bool = true) {
        if isLost, !losses.contains(loss) { losses.append(loss) }
    }
}

/// The formats of other systems.
package enum ImportFormat: String, Sendable, CaseIterable {
    case auth0
    case firebase
    case keycloak
    case supabase

    /// The system of the external ids.
    package var source: NameSource {
        guard let source = NameSource(rawValue) else {
            preconditionFailure("the name of a format is a source")
        }
        return source
    }

    /// The usual names of the tenant's providers that have another name in the system, by that one.
    private var defaultProviders: [String: [String]] {
        switch self {
        case .auth0: ["google-oauth2": ["google"], "twitter": ["x"]]
        case .firebase:
            [
                "google.com": ["google"], "apple.com": ["apple"], "facebook.com": ["facebook"],
                "github.com": ["github"], "twitter.com": ["twitter", "x"],
            ]
        case .keycloak: [:]
        case .supabase: ["twitter": ["x"]]
        }
    }

    /// Returns the tenant's providers by their names in the system, if the operator gives none: one of the same name
    /// before others.
    func providers(of types: [ProviderName: ProviderType]) -> [String: ProviderName] {
        let federated = types.filter(\.value.isFederated)
        var providers: [String: ProviderName] = [:]
        for name in federated.keys { providers[name.description] = name }
        for (name, others) in defaultProviders where providers[name] == nil {
            providers[name] = others.lazy.compactMap { ProviderName($0) }
                .first { federated[$0] != nil }
        }
        return providers
    }

    /// Returns the names in the system of the tenant's providers that have another one there: an import of a name
    /// finds its provider again.
    func names(of types: [ProviderName: ProviderType]) -> [ProviderName: String] {
        var names: [ProviderName: String] = [:]
        for (name, provider) in providers(of: types) where defaultProviders[name] != nil {
            names[provider] = name
        }
        return names
    }
}
