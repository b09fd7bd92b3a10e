/// The body of `POST /v1/auth/link/{provider}`.
public struct LinkRequest: Codable, Hashable, Sendable {
    /// The provider's ID token.
    public let idToken: String
    /// The raw nonce that the client generated for the provider, also when the token carries its
    /// hash.
    public let nonce: String?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case nonce
    }

    /// Describes a request.
    public init(idToken: String, nonce: String? = nil) {
        self.idToken = idToken
        self.nonce = nonce
    }
}
