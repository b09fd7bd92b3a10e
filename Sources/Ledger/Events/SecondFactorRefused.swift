/// A person proved an identity of an account, and no second factor.
package struct SecondFactorRefused: SignInRefusal {
    package static let reason = "second_factor"

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName

    /// States whose identity was proved.
    package init(account: AccountID, identity: IdentityID, provider: ProviderName) {
        self.account = account
        self.identity = identity
        self.provider = provider
    }

    package var verb: String { "was refused for a wrong second factor after" }
}
