/// The body of `POST /v1/auth/sign-out`; optional.
public struct SignOutRequest: Codable, Hashable, Sendable {
    /// Whether every session of the account ends; false by default.
    public let everywhere: Bool?

    /// Describes a request.
    public init(everywhere: Bool? = nil) {
        self.everywhere = everywhere
    }
}
