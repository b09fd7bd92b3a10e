/// An e-mail address of an identity, with what its provider said of it.
package struct Email: Hashable, Sendable {
    package let address: String
    /// Whether the provider said that it had verified the address.
    ///
    /// Nil where nobody knows any more: events that were written before it was kept do not disclose it.
    package let isVerified: Bool?

    /// Describes an address.
    package init(_ address: String, isVerified: Bool?) {
        self.address = address
        self.isVerified = isVerified
    }

    /// What an event discloses of it.
    package var disclosures: [Disclosure] {
        let flag = isVerified.map { Disclosure(.emailVerified, $0 ? "true" : "false") }
        return [Disclosure(.email, address)] + [flag].compactMap(\.self)
    }
}
