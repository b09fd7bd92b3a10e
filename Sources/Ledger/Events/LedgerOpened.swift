/// A tenant's log began: always position 0.
package struct LedgerOpened: EventFact {
    /// Whether the log is for development or production; never changes.
    package enum Mode: String, Sendable, CaseIterable {
        case development
        case production
    }

    package let mode: Mode
    /// Fingerprint of the key that encrypts the keys of accounts.
    package let encryptionKey: String
    /// Fingerprint of the key that authenticates entries from position 0; nil in version 1.
    package let macKey: String?
    /// Fingerprint of the key that signs access tokens.
    package let tokenKey: String

    /// States how the log was opened.
    package init(mode: Mode, encryptionKey: String, macKey: String? = nil, tokenKey: String) {
        self.mode = mode
        self.encryptionKey = encryptionKey
        self.macKey = macKey
        self.tokenKey = tokenKey
    }

    package static let newestVersion = 2
    package var version: Int { macKey == nil ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [] }

    package var details: EntryDetails {
        EntryDetails([
            ("encryption_key", encryptionKey), ("mac_key", macKey), ("mode", mode.rawValue),
            ("token_key", tokenKey),
        ])
    }

    package var verb: String { "began" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        encryptionKey = try reader.text("encryption_key")
        macKey = details.version < 2 ? nil : try reader.text("mac_key")
        mode = try reader.word("mode")
        tokenKey = try reader.text("token_key")
        try reader.end()
    }
}
