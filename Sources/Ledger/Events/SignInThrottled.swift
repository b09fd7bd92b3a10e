/// So many wrong passwords were tried for an identity that further ones are refused for a while.
package struct SignInThrottled: SignInRefusal {
    package static let reason = "rate_limited"

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName

    /// States which identity's passwords were tried.
    package init(account: AccountID, identity: IdentityID, provider: ProviderName) {
        self.account = account
        self.identity = identity
        self.provider = provider
    }

    package var verb: String { "was refused for too many wrong passwords of" }
}
