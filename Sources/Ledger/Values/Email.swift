/// An e-mail address of an identity, with its verification by the provider.
package struct Email: Hashable, Sendable {
    package let address: String
    /// Whether the provider called the address verified.
    ///
    /// Nil when it is unknown: older events do not disclose it.
    package let isVerified: Bool?

    /// Describes an address.
    package init(_ address: String, isVerified: Bool?) {
        self.address = address
        self.isVerified = isVerified
    }
}
