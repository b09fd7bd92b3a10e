/// The answer to a request for a code.
public struct CodeAnswer: Codable, Hashable, Sendable {
    /// The id of the challenge, which the client sends with the code.
    public let challengeID: String
    /// The lifetime of the code, in seconds.
    public let expiresIn: Int64

    enum CodingKeys: String, CodingKey {
        case challengeID = "challenge_id"
        case expiresIn = "expires_in"
    }

    /// Describes a challenge.
    public init(challengeID: String, expiresIn: Int64) {
        self.challengeID = challengeID
        self.expiresIn = expiresIn
    }
}
