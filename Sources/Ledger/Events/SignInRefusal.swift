/// A refused sign-in with an identity of an account.
///
/// Repeated refusals within the window of a budget are one event.
package protocol SignInRefusal: EventFact {
    var account: AccountID { get }
    var identity: IdentityID { get }
    var provider: ProviderName { get }
    /// The reason, as audits show it.
    static var reason: String { get }
    /// States which sign-ins were refused.
    init(account: AccountID, identity: IdentityID, provider: ProviderName)
}

extension SignInRefusal {
    package var outcome: Event.Outcome { .refused }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("identity", identity.description), ("provider", provider.description),
        ])
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: Self.reason, provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        let account = try onlyAccount(accounts)
        var reader = details.reader
        let identity: IdentityID = try reader.id("identity")
        let provider = try reader.provider()
        try reader.end()
        self.init(account: account, identity: identity, provider: provider)
    }
}
