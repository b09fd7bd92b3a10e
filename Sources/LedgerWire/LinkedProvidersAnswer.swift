/// What a link and an unlink give.
public struct LinkedProvidersAnswer: Codable, Hashable, Sendable {
    /// The account's providers in linking order.
    public let linkedProviders: [String]
    /// What a person reads, such as `Google account linked successfully`.
    public let message: String

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
        case message
    }

    /// Describes what is linked now.
    public init(linkedProviders: [String], message: String) {
        self.linkedProviders = linkedProviders
        self.message = message
    }
}
