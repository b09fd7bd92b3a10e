/// The body of `POST /v1/auth/refresh`.
public struct RefreshRequest: Codable, Hashable, Sendable {
    /// The refresh token that was given out last.
    public let refreshToken: String

    enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    /// Asks for new tokens.
    public init(refreshToken: String) {
        self.refreshToken = refreshToken
    }
}
