/// An address belongs to an account from now on, although its holder has not proved it: a claim prevents other claims,
/// and ends when another person proves the address.
package struct AddressClaimed: EventFact {
    package let account: AccountID
    package let address: AddressID
    package let kind: AddressKind

    /// States which address was claimed for which account.
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
        case .email: "claimed an e-mail address"
        case .phone: "claimed a phone number"
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
