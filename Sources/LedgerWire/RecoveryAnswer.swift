/// The answer to the reset of a password, or to the return of an address.
public struct RecoveryAnswer: Codable, Hashable, Sendable {
    /// The account's providers in linking order, which all still open it.
    public let linkedProviders: [String]

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
    }

    /// Describes an account.
    public init(linkedProviders: [String]) {
        self.linkedProviders = linkedProviders
    }
}
