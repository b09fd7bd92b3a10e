/// An account with everything by which it is signed in to, for another system.
package struct ExportedAccount: Hashable, Sendable {
    /// An identity of the account.
    package struct Identity: Hashable, Sendable {
        package let id: IdentityID
        package let provider: ProviderName
        /// The subject at the provider; the id of the address for those that are found by one.
        package let providerID: String
        package var email: Email?
        /// The address by which it is found.
        package var address: String?
        /// Whether the account has proved the address; false while it only claims it.
        package var isAddressVerified = false
        /// The text of the password's hash.
        package var hash: String?

        /// Describes an identity.
        package init(id: IdentityID, provider: ProviderName, providerID: String) {
            self.id = id
            self.provider = provider
            self.providerID = providerID
        }
    }

    package let id: AccountID
    package let isDisabled: Bool
    package var hasSecondFactors = false
    /// In linking order.
    package var identities: [Identity] = []
    /// The ids of the account itself, and then those of accounts merged into it.
    package var names: [ExternalName] = []

    /// Describes an account without identities.
    package init(id: AccountID, isDisabled: Bool) {
        self.id = id
        self.isDisabled = isDisabled
    }
}
