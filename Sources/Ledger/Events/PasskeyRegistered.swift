/// An identity got the key of a passkey.
package struct PasskeyRegistered: EventFact {
    package let account: AccountID
    package let identity: IdentityID

    /// States which identity got a key.
    package init(account: AccountID, identity: IdentityID) {
        self.account = account
        self.identity = identity
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }
    package var details: EntryDetails { EntryDetails([("identity", identity.description)]) }
    package var verb: String { "registered a passkey" }
    package var attributes: EventAttributes { EventAttributes(identity: identity) }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        identity = try reader.id("identity")
        try reader.end()
    }
}
