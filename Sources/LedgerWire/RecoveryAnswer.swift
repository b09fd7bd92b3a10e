/// The answer to the reset of a password, or to the return of an address.
public struct RecoveryAnswer: Codable, Hashable, Sendable {
    /// The account's providers in linking order, which all still open it.
    public let linkedProviders: [String]
    /// Sent with later codes and passwords for the address, so that strangers can't use up the device's tries.
    public let deviceToken: String?

    enum CodingKeys: String, CodingKey {
        case linkedProviders = "linked_providers"
        case deviceToken = "device_token"
    }

    /// Describes an account.
    public init(linkedProviders: [String], deviceToken: String?) {
        self.linkedProviders = linkedProviders
        self.deviceToken = deviceToken
    }
}
