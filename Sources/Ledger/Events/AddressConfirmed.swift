/// The holder of an account proved that they can read the messages of an address, which belongs to the
/// account from then on.
///
/// Later merges do not change the account that the event names.
package struct AddressConfirmed: EventFact {
    package let account: AccountID
    package let address: AddressID
    package let kind: AddressKind

    /// States which address was confirmed for which account.
    package init(account: AccountID, address: AddressID, kind: AddressKind) {
        self.account = account
        self.address = address
        self.kind = kind
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("address", address.description), ("kind", kind.rawValue)])
    }

    package var verb: String {
        switch kind {
        case .email: "confirmed an e-mail address"
        case .phone: "confirmed a phone number"
        }
    }

    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP, kind.disclosure] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        address = try reader.id("address")
        kind = try reader.word("kind")
        try reader.end()
    }
}
