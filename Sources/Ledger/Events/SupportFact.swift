/// A change of an account by support, of which the entry has no other fields.
package protocol SupportFact: EventFact {
    var account: AccountID { get }
    /// States which account was changed.
    init(account: AccountID)
}

extension SupportFact {
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }
    package var details: EntryDetails { EntryDetails([]) }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.caseReference, .reason] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        try details.reader.end()
        self.init(account: try onlyAccount(accounts))
    }
}
