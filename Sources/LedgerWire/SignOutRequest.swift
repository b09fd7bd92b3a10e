/// The body of `POST /v1/auth/sign-out`; it may be left out.
public struct SignOutRequest: Codable, Hashable, Sendable {
    /// Whether every session of the account ends; false when it is left out.
    public let everywhere: Bool?

    /// Asks for an end.
    public init(everywhere: Bool? = nil) {
        self.everywhere = everywhere
    }
}
