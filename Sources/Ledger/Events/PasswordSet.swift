/// An identity of an account got a password, or another one.
package struct PasswordSet: EventFact {
    /// The cause of a change.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account was opened with the password.
        case signUp = "sign_up"
        /// The password was linked to an account that had none.
        case link
        /// The account holder replaced the password; all sessions end.
        case change
        /// A person who proved the address replaced the password; all sessions end.
        case reset
        /// The password is that of another system.
        case imported
    }

    package let account: AccountID
    package let identity: IdentityID
    package let cause: Cause

    /// States which identity got a password, and why.
    package init(account: AccountID, identity: IdentityID, cause: Cause) {
        self.account = account
        self.identity = identity
        self.cause = cause
    }

    /// Whether it ends all sessions of the account.
    package var endsSessions: Bool { [.change, .reset].contains(cause) }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("cause", cause.rawValue), ("identity", identity.description)])
    }

    package var verb: String {
        switch cause {
        case .signUp, .link: "set a password"
        case .change: "changed the password"
        case .reset: "reset the password"
        case .imported: "was imported with a password"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: cause.rawValue, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        cause == .imported ? [] : [.clientIP]
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        identity = try reader.id("identity")
        try reader.end()
    }
}
