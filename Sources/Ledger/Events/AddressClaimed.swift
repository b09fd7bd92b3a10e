/// An address belongs to an account from now on, although its holder has not proved it: a claim prevents other claims,
/// and ends when another person proves the address.
package struct AddressClaimed: EventFact {
    /// The origin of a claim.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder typed the address; written as version 1, which names no cause.
        case claimed
        /// Another system had the address, and no proof of it.
        case imported
    }

    package let account: AccountID
    package let address: AddressID
    package let kind: AddressKind
    package let cause: Cause

    /// States which address was claimed for which account.
    package init(
        account: AccountID, address: AddressID, kind: AddressKind, cause: Cause = .claimed
    ) {
        self.cause = cause
        self.account = account
        self.address = address
        self.kind = kind
    }

    package static let newestVersion = 2
    package var version: Int { cause == .claimed ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("address", address.description),
            ("cause", cause == .claimed ? nil : cause.rawValue), ("kind", kind.rawValue),
        ])
    }

    package var verb: String {
        switch (kind, cause) {
        case (.email, .claimed): "claimed an e-mail address"
        case (.phone, .claimed): "claimed a phone number"
        case (.email, .imported): "was imported with a claim to an e-mail address"
        case (.phone, .imported): "was imported with a claim to a phone number"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: cause == .claimed ? nil : cause.rawValue)
    }
    package var requiredDisclosures: [Disclosure.Name] {
        cause == .imported ? [kind.disclosure] : [.clientIP, kind.disclosure]
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        address = try reader.id("address")
        cause = details.version < 2 ? .claimed : try reader.word("cause")
        guard details.version < 2 || cause != .claimed else { throw .malformed("details.cause") }
        kind = try reader.word("kind")
        try reader.end()
    }
}
