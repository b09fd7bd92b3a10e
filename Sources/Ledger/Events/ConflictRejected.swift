/// A link was refused because of existing links.
///
/// Touches the caller and, when another account holds the identity, that account after it, so that
/// the attempt is in both histories. It discloses nothing about the holder.
package struct ConflictRejected: EventFact {
    /// The three kinds of conflict; the caller is told only that there is one.
    package enum Reason: String, Sendable, CaseIterable {
        /// The identity belongs to another account.
        case heldByOther = "held_by_other"
        /// The identity belongs to the caller already.
        case alreadyYours = "already_yours"
        /// The caller has an identity of that provider, and the tenant allows only one.
        case providerTaken = "provider_taken"
    }

    package let account: AccountID
    /// The account that holds the identity; set only for ``Reason/heldByOther``.
    package let holder: AccountID?
    /// The identity that was claimed; nil when it was never linked to any account.
    package let identity: IdentityID?
    package let provider: ProviderName
    package let reason: Reason

    /// States which claim was refused.
    package init(
        account: AccountID, holder: AccountID?, identity: IdentityID?, provider: ProviderName,
        reason: Reason
    ) {
        self.account = account
        self.holder = holder
        self.identity = identity
        self.provider = provider
        self.reason = reason
    }

    package var outcome: Event.Outcome { .refused }
    package var accounts: [AccountID] { holder.map { [account, $0] } ?? [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("identity", identity?.description), ("provider", provider.description),
            ("reason", reason.rawValue),
        ])
    }

    package var verb: String { "could not link" }

    package var attributes: EventAttributes {
        EventAttributes(reason: reason.rawValue, provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        var reader = details.reader
        identity = try reader.optionalID("identity")
        provider = try reader.provider()
        reason = try reader.word("reason")
        try reader.end()
        guard accounts.count == (reason == .heldByOther ? 2 : 1) else {
            throw .malformed("accounts")
        }
        account = accounts[0]
        holder = accounts.count == 2 ? accounts[1] : nil
    }
}
