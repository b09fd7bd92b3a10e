/// The answer to a link or an unlink.
public struct LinkedProvidersAnswer: Codable, Hashable, Sendable {
    /// The account's providers in linking order.
    public let linkedProviders: [String]
    /// The text for people, such as `Google account linked successfully`.
    public let message: String

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
        case message
    }

    /// Describes the linked providers.
    public init(linkedProviders: [String], message: String) {
        self.linkedProviders = linkedProviders
        self.message = message
    }
}
