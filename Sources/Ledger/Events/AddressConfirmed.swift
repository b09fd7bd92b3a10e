/// An address belongs to an account from now on: its holder proved that they can read the messages of the
/// address, or had proved it to the system that the account was imported from.
///
/// An address that the account has claimed, or confirms again, keeps its id.
///
/// Later merges do not change the account that the event names.
package struct AddressConfirmed: EventFact {
    /// The proof of an address.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder proved it; entries name no cause.
        case proved
        /// Another system stated it.
        case imported
    }

    package let account: AccountID
    package let address: AddressID
    package let kind: AddressKind
    package let cause: Cause

    /// States which address was confirmed for which account.
    package init(
        account: AccountID, address: AddressID, kind: AddressKind, cause: Cause = .proved
    ) {
        self.cause = cause
        self.account = account
        self.address = address
        self.kind = kind
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("address", address.description),
            ("cause", cause == .proved ? nil : cause.rawValue), ("kind", kind.rawValue),
        ])
    }

    package var verb: String {
        switch (kind, cause) {
        case (.email, .proved): "confirmed an e-mail address"
        case (.phone, .proved): "confirmed a phone number"
        case (.email, .imported): "was imported with an e-mail address"
        case (.phone, .imported): "was imported with a phone number"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: cause == .proved ? nil : cause.rawValue)
    }
    package var requiredDisclosures: [Disclosure.Name] {
        cause == .imported ? [kind.disclosure] : [.clientIP, kind.disclosure]
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        address = try reader.id("address")
        let stated: Cause? = try reader.optionalWord("cause")
        guard stated != .proved else { throw .malformed("details.cause") }
        cause = stated ?? .proved
        kind = try reader.word("kind")
        try reader.end()
    }
}
