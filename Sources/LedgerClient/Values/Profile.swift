public import Foundation

/// The account of the person who is signed in, as the ledger last described it.
///
/// It contains no secret, so an app may show it before it has asked for a fingerprint, and while it is offline.
public struct Profile: Codable, Hashable, Sendable {
    /// The stable id of the account, under which an app keeps its data.
    public var userID: String
    /// The names of the linked providers in linking order.
    public var linkedProviders: [String]
    /// The linked identities in linking order; empty until ``AuthSession/reload()`` has read them.
    public var identities: [Identity]

    /// Describes an account.
    public init(userID: String, linkedProviders: [String], identities: [Identity] = []) {
        self.userID = userID
        self.linkedProviders = linkedProviders
        self.identities = identities
    }
}

/// One sign-in identity of an account.
public struct Identity: Codable, Hashable, Sendable, Identifiable {
    /// The opaque id, which stays the same over unlink and relink.
    public var id: String
    /// The name of its provider.
    public var provider: String
    /// The time of its link.
    public var linkedAt: Date
    /// The e-mail address that the provider last reported, if any.
    public var email: String?
    /// Whether the provider called the address verified; nil when that is not known.
    public var isEmailVerified: Bool?
    /// The time at which it is unlinked, because support planned that; nil otherwise.
    public var unlinkDue: Date?
    /// The name that the person gave to a passkey.
    public var name: String?

    /// Describes an identity.
    public init(
        id: String, provider: String, linkedAt: Date, email: String? = nil,
        isEmailVerified: Bool? = nil, unlinkDue: Date? = nil, name: String? = nil
    ) {
        self.id = id
        self.provider = provider
        self.linkedAt = linkedAt
        self.email = email
        self.isEmailVerified = isEmailVerified
        self.unlinkDue = unlinkDue
        self.name = name
    }
}

/// A way to sign in that a tenant offers.
public struct Provider: Codable, Hashable, Sendable, Identifiable {
    /// The kind of proof that a provider needs.
    public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
        /// The word of the HTTP API, such as `oidc`.
        public let rawValue: String

        /// Wraps a word, which may be one that this release does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// ID tokens of OpenID Connect.
        public static let openID = Self(rawValue: "oidc")
        /// Access tokens of OAuth 2.0.
        public static let oauth2 = Self(rawValue: "oauth2")
        /// Accounts without a proof.
        public static let anonymous = Self(rawValue: "anonymous")
        /// An e-mail address and a password.
        public static let password = Self(rawValue: "password")
        /// Passkeys.
        public static let passkey = Self(rawValue: "passkey")
        /// Codes by e-mail.
        public static let email = Self(rawValue: "email")
        /// Codes by text message.
        public static let phone = Self(rawValue: "phone")
    }

    /// The name, which calls take as `provider`.
    public var name: String
    /// The name for people.
    public var displayName: String
    /// The kind of proof.
    public var kind: Kind
    /// Whether ``AuthSession/signInInBrowser(at:with:createsAccount:)`` can be used with it.
    public var hasFlow: Bool

    /// The name.
    public var id: String { name }

    /// Describes a provider.
    public init(name: String, displayName: String, kind: Kind, hasFlow: Bool) {
        self.name = name
        self.displayName = displayName
        self.kind = kind
        self.hasFlow = hasFlow
    }

    enum CodingKeys: String, CodingKey {
        case name
        case displayName = "display_name"
        case kind = "type"
        case hasFlow = "has_flow"
    }
}
