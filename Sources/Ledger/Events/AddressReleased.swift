/// An address no longer belongs to an account.
package struct AddressReleased: EventFact {
    /// The cause of a release.
    package enum Cause: String, Sendable, CaseIterable {
        /// Another person proved it, or an import had it; the account had claimed it, had not used the number for a
        /// long time, or no linked identity used it.
        case proved
    }

    package let account: AccountID
    package let address: AddressID
    package let cause: Cause

    /// States which address was released by which account.
    package init(account: AccountID, address: AddressID, cause: Cause) {
        self.account = account
        self.address = address
        self.cause = cause
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("address", address.description), ("cause", cause.rawValue)])
    }

    package var verb: String { "lost an address" }
    package var attributes: EventAttributes { EventAttributes(reason: cause.rawValue) }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        address = try reader.id("address")
        cause = try reader.word("cause")
        try reader.end()
    }
}
