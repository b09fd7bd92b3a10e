/// The answer of `GET /v1/account`.
public struct AccountAnswer: Codable, Hashable, Sendable {
    /// One identity of the account.
    public struct Identity: Codable, Hashable, Sendable {
        /// The opaque id of the identity; stable over unlink and relink.
        public let identityID: String
        /// The configured name of its provider.
        public let provider: String
        /// The name that the person gave to a passkey; absent without one.
        public let name: String?
        /// The e-mail address that the provider last reported; absent if it reported none.
        public let email: String?
        /// Whether the provider called the address verified; null when unknown.
        public let emailVerified: Bool?
        /// When it was linked, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`.
        public let linkedAt: String
        /// When it is unlinked, in the same form, because support planned it; absent otherwise.
        public let unlinkDue: String?

        enum CodingKeys: String, CodingKey {
            case identityID = "identity_id"
            case provider
            case name
            case email
            case emailVerified = "email_verified"
            case linkedAt = "linked_at"
            case unlinkDue = "unlink_due"
        }

        /// Describes an identity.
        public init(
            identityID: String, provider: String, name: String? = nil, email: String?,
            emailVerified: Bool?, linkedAt: String, unlinkDue: String? = nil
        ) {
            self.identityID = identityID
            self.provider = provider
            self.name = name
            self.email = email
            self.emailVerified = emailVerified
            self.linkedAt = linkedAt
            self.unlinkDue = unlinkDue
        }
    }

    /// The stable identifier that an app stores its data under.
    public let userID: String
    /// The account's providers in linking order, each named once.
    public let linkedProviders: [String]
    /// The account's identities in linking order.
    public let identities: [Identity]
    /// The second factors whose removal support planned; absent without one.
    public let factorRemovals: [FactorAnswer]?

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case linkedProviders = "linked_providers"
        case identities
        case factorRemovals = "factor_removals"
    }

    /// Describes an account.
    public init(
        userID: String, linkedProviders: [String], identities: [Identity],
        factorRemovals: [FactorAnswer]? = nil
    ) {
        self.userID = userID
        self.linkedProviders = linkedProviders
        self.identities = identities
        self.factorRemovals = factorRemovals
    }
}
