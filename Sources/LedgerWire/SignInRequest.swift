/// The body of `POST /v1/auth/sign-in/{provider}`.
public struct SignInRequest: Codable, Hashable, Sendable {
    /// The provider's ID token.
    public let idToken: String
    /// The raw nonce that the client generated for the provider, also when the token carries its
    /// hash.
    public let nonce: String?
    /// Whether an account is opened for an identity without one; true by default.
    public let createAccount: Bool?

    enum CodingKeys: String, CodingKey {
        case idToken = "id_token"
        case nonce
        case createAccount = "create_account"
    }

    /// Describes a request.
    public init(idToken: String, nonce: String? = nil, createAccount: Bool? = nil) {
        self.idToken = idToken
        self.nonce = nonce
        self.createAccount = createAccount
    }
}
