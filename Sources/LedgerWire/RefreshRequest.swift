/// The body of `POST /v1/auth/refresh`.
public struct RefreshRequest: Codable, Hashable, Sendable {
    /// The latest refresh token.
    public let refreshToken: String

    enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }

    /// Describes a request.
    public init(refreshToken: String) {
        self.refreshToken = refreshToken
    }
}
