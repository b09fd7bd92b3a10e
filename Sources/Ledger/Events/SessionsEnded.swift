/// All sessions of an account were ended on behalf of its holder.
package struct SessionsEnded: SupportFact {
    package let account: AccountID

    /// States which account lost its sessions.
    package init(account: AccountID) {
        self.account = account
    }

    package var verb: String { "was signed out everywhere" }
}
