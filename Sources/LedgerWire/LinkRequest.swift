/// The body of `POST /v1/auth/link/{provider}`.
public struct LinkRequest: Codable, Hashable, Sendable {
    /// The provider's ID token.
    public let idToken: String
    /// What the client chose when it asked the provider, raw, also where the token carries its
    /// hash.
    public let nonce: String?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case nonce
    }

    /// Asks for a link.
    public init(idToken: String, nonce: String? = nil) {
        self.idToken = idToken
        self.nonce = nonce
    }
}
