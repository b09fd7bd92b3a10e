/// The body of `POST /v1/auth/sign-in/{provider}`.
public struct SignInRequest: Codable, Hashable, Sendable {
    /// The provider's ID token.
    public let idToken: String
    /// What the client chose when it asked the provider, raw, also where the token carries its
    /// hash.
    public let nonce: String?
    /// Whether an account is opened for an identity that has none; true when it is left out.
    public let createAccount: Bool?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case nonce
        case createAccount = "create_account"
    }

    /// Asks for a session.
    public init(idToken: String, nonce: String? = nil, createAccount: Bool? = nil) {
        self.idToken = idToken
        self.nonce = nonce
        self.createAccount = createAccount
    }
}
