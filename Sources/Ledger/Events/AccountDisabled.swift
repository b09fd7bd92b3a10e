/// An account was disabled: its sessions ended, and nothing signs in to it until it is enabled.
package struct AccountDisabled: SupportFact {
    package let account: AccountID

    /// States which account was disabled.
    package init(account: AccountID) {
        self.account = account
    }

    package var verb: String { "was disabled" }
}
