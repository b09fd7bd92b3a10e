/// A disabled account was enabled: its identities sign in to it again.
package struct AccountEnabled: SupportFact {
    package let account: AccountID

    /// States which account was enabled.
    package init(account: AccountID) {
        self.account = account
    }

    package var verb: String { "was enabled" }
}
