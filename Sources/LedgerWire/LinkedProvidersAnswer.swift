/// The answer to a link or an unlink.
public struct LinkedProvidersAnswer: Codable, Hashable, Sendable {
    /// The account's providers in linking order.
    public let linkedProviders: [String]
    /// The text for people, such as `Google account linked successfully`.
    public let message: String
    /// The id of the challenge whose code confirms the linked address; only where it is confirmed later.
    public let challengeID: String?

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
        case message
        case challengeID = "challenge_id"
    }

    /// Describes the linked providers.
    public init(linkedProviders: [String], message: String, challengeID: String? = nil) {
        self.linkedProviders = linkedProviders
        self.message = message
        self.challengeID = challengeID
    }
}
