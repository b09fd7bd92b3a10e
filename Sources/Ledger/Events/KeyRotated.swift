/// The ledger works with another key from now on, or soon; the log of every tenant says so.
package struct KeyRotated: EventFact {
    /// What a key is for.
    package enum Kind: String, Sendable, CaseIterable {
        /// Signs checkpoints.
        case checkpoint
        /// Wraps the keys of accounts.
        case encryption
        /// Signs access tokens.
        case token
    }

    /// Fingerprint of the key that was in use until then.
    package let former: String
    /// Fingerprint of the new key.
    package let key: String
    package let kind: Kind

    /// States which key took another's place.
    package init(kind: Kind, key: String, former: String) {
        self.former = former
        self.key = key
        self.kind = kind
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [] }

    package var details: EntryDetails {
        EntryDetails([("former", former), ("key", key), ("kind", kind.rawValue)])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        former = try reader.text("former")
        key = try reader.text("key")
        kind = try reader.word("kind")
        try reader.end()
    }
}
