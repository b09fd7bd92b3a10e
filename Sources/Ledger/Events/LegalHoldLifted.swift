/// A hold on an account ended; another one may still prevent the account's erasure.
package struct LegalHoldLifted: EventFact {
    package let account: AccountID
    package let hold: HoldID

    /// States which hold was lifted from which account.
    package init(account: AccountID, hold: HoldID) {
        self.account = account
        self.hold = hold
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("hold", hold.description)])
    }

    package var verb: String { "was released from a legal hold" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        hold = try reader.id("hold")
        try reader.end()
    }
}
