/// An address of an account was replaced by another one, or the former one was taken back; all sessions of the account
/// end.
///
/// The address keeps its id, and with it the identities that use it. It touches the account for which the address was
/// confirmed and, after a merge, the survivor after it.
package struct AddressChanged: EventFact {
    /// The cause of a change.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder replaced it. The former address gets an id of its own.
        case change
        /// A person who proved the former address took it back. The other address is free.
        case takenBack = "taken_back"
    }

    /// The account for which the address was confirmed.
    package let account: AccountID
    /// The survivor of that account; nil when it was not merged.
    package let survivor: AccountID?
    package let address: AddressID
    /// The id of the former address while it can be taken back.
    package let former: AddressID
    package let kind: AddressKind
    package let cause: Cause

    /// States which address has another text from now on.
    package init(
        account: AccountID, survivor: AccountID?, address: AddressID, former: AddressID,
        kind: AddressKind, cause: Cause
    ) {
        self.account = account
        self.survivor = survivor
        self.address = address
        self.former = former
        self.kind = kind
        self.cause = cause
    }

    /// The account whose sessions end.
    package var holder: AccountID { survivor ?? account }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { survivor.map { [account, $0] } ?? [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("address", address.description), ("cause", cause.rawValue),
            ("former", former.description), ("kind", kind.rawValue),
        ])
    }

    package var verb: String {
        switch (kind, cause) {
        case (.email, .change): "changed an e-mail address"
        case (.phone, .change): "changed a phone number"
        case (.email, .takenBack): "took an e-mail address back"
        case (.phone, .takenBack): "took a phone number back"
        }
    }

    package var attributes: EventAttributes { EventAttributes(reason: cause.rawValue) }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP, kind.disclosure] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard let account = accounts.first, accounts.count <= 2 else {
            throw .malformed("accounts")
        }
        self.account = account
        survivor = accounts.dropFirst().first
        var reader = details.reader
        address = try reader.id("address")
        cause = try reader.word("cause")
        former = try reader.id("former")
        kind = try reader.word("kind")
        try reader.end()
    }
}
