/// An identity opened a session of the account that it belongs to.
package struct SignedIn: EventFact {
    package let account: AccountID
    /// The time of authentication, in whole seconds; a refresh keeps it.
    package let authenticatedAt: Timestamp
    package let identity: IdentityID
    package let provider: ProviderName
    package let session: SessionID
    /// The device, if an account that existed was signed in to from one that it did not know, in a way that makes devices
    /// known.
    package let device: Device?
    /// The methods in the entry; nil in version 1.
    private let writtenMethods: AuthenticationMethods?

    /// The kinds of devices that entries name.
    package enum Device: String, Sendable, CaseIterable {
        case new
    }

    /// States which identity opened which session; without methods it is written as version 1.
    package init(
        account: AccountID, authenticatedAt: Timestamp, device: Device? = nil, identity: IdentityID,
        methods: AuthenticationMethods?, provider: ProviderName, session: SessionID
    ) {
        self.account = account
        self.device = device
        self.authenticatedAt = Timestamp(seconds: authenticatedAt.seconds)
        self.identity = identity
        writtenMethods = methods
        self.provider = provider
        self.session = session
    }

    /// The methods of authentication; only ID tokens opened sessions while version 1 was written.
    package var methods: AuthenticationMethods { writtenMethods ?? .federated }

    package static let newestVersion = 2
    package var version: Int { writtenMethods == nil ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("auth_time", authenticatedAt.description), ("device", device?.rawValue),
            ("identity", identity.description),
            ("methods", writtenMethods?.description), ("provider", provider.description),
            ("session", session.description),
        ])
    }

    package var verb: String { "signed in with" }

    package var attributes: EventAttributes {
        EventAttributes(provider: provider, identity: identity, session: session)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        authenticatedAt = try reader.time("auth_time")
        device = details.version < 2 ? nil : try reader.optionalWord("device")
        identity = try reader.id("identity")
        writtenMethods = details.version < 2 ? nil : try reader.methods()
        provider = try reader.provider()
        session = try reader.id("session")
        try reader.end()
    }
}
