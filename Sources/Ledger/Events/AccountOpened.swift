/// A new account was opened; the link of its first identity follows in the same command.
package struct AccountOpened: EventFact {
    /// The cause of an opening.
    package enum Cause: String, Sendable, CaseIterable {
        /// A person signed in with an identity without an account; written as version 1, which names no
        /// cause.
        case signUp = "sign_up"
        /// A client asked for an account without a proof.
        case anonymous
        /// The account was imported from another system.
        case imported
    }

    package let account: AccountID
    package let cause: Cause

    /// States which account was opened, and why.
    package init(account: AccountID, cause: Cause = .signUp) {
        self.account = account
        self.cause = cause
    }

    package static let newestVersion = 2
    package var version: Int { cause == .signUp ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("cause", cause == .signUp ? nil : cause.rawValue)])
    }

    package var verb: String {
        switch cause {
        case .signUp: "was opened"
        case .anonymous: "was opened anonymously"
        case .imported: "was imported"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: cause == .signUp ? nil : cause.rawValue)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        cause == .imported ? [] : [.clientIP]
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = details.version < 2 ? .signUp : try reader.word("cause")
        guard details.version < 2 || cause != .signUp else { throw .malformed("details.cause") }
        try reader.end()
    }
}
