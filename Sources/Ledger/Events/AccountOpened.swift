/// A new account was opened; the link of its first identity follows in the same command.
package struct AccountOpened: EventFact {
    package let account: AccountID

    /// States which account was opened.
    package init(account: AccountID) {
        self.account = account
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }
    package var details: EntryDetails { EntryDetails([]) }

    package var verb: String { "was opened" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        try details.reader.end()
    }
}
