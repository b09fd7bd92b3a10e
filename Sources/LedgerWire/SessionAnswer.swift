/// The answer to a sign-in or a refresh: tokens and their account.
public struct SessionAnswer: Codable, Hashable, Sendable {
    /// A JWT for the `Authorization` header.
    public let accessToken: String
    /// Exchanged once for the next pair of tokens; opaque.
    public let refreshToken: String
    /// Always `Bearer`.
    public let tokenType: String
    /// The remaining lifetime of the access token, in seconds.
    public let expiresIn: Int64
    /// The stable identifier that an app stores its data under.
    public let userID: String
    /// Whether this request opened the account; false for a refresh.
    public let isNewUser: Bool
    /// The account's providers in linking order.
    public let linkedProviders: [String]
    /// The secret of the anonymous account that this request opened: signs in to it again, and is returned
    /// only once.
    public let anonymousSecret: String?
    /// Recognises the device at later sign-ins with codes for the same address, so that strangers can't use up
    /// its tries; only after a sign-in with a code.
    public let deviceToken: String?
    /// The id of the challenge whose code confirms the address of a sign-up; only after one that is confirmed later.
    public let challengeID: String?

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case userID = "user_id"
        case isNewUser = "is_new_user"
        case linkedProviders = "linked_providers"
        case anonymousSecret = "anonymous_secret"
        case deviceToken = "device_token"
        case challengeID = "challenge_id"
    }

    /// Describes a session.
    public init(
        accessToken: String, refreshToken: String, tokenType: String = "Bearer",
        expiresIn: Int64, userID: String, isNewUser: Bool, linkedProviders: [String],
        anonymousSecret: String? = nil, deviceToken: String? = nil, challengeID: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.expiresIn = expiresIn
        self.userID = userID
        self.isNewUser = isNewUser
        self.linkedProviders = linkedProviders
        self.anonymousSecret = anonymousSecret
        self.deviceToken = deviceToken
        self.challengeID = challengeID
    }
}
