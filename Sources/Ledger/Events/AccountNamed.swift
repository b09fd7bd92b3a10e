/// An account got a name by which another system knew it: the id there is a disclosure.
///
/// Later merges do not change the account that the event names.
package struct AccountNamed: EventFact {
    package let account: AccountID
    package let source: NameSource

    /// States which account has an id in which system.
    package init(account: AccountID, source: NameSource) {
        self.account = account
        self.source = source
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }
    package var details: EntryDetails { EntryDetails([("source", source.description)]) }
    package var verb: String { "got an external id" }
    package var attributes: EventAttributes { EventAttributes(reason: source.description) }
    package var requiredDisclosures: [Disclosure.Name] { [.externalID] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        guard let source = NameSource(try reader.text("source")) else {
            throw .malformed("details.source")
        }
        self.source = source
        try reader.end()
    }
}
