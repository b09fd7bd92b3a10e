/// Two accounts of one person were merged: the absorbed account's identities belong to the survivor
/// from here on, and its id resolves to the survivor.
///
/// The links are written in full, so that either account's own history shows what it had
/// afterwards. A moved link keeps its time and its position in linking order.
package struct AccountsMerged: EventFact {
    /// The reason for a merge.
    package enum Cause: String, Sendable, CaseIterable {
        /// The person proved both accounts.
        case accountHolder = "account_holder"
        /// Support merged them for the person.
        case support
    }

    package let survivor: AccountID
    package let absorbed: AccountID
    package let cause: Cause
    /// The absorbed account's links that move to the survivor, in linking order.
    package let moved: [Account.Link]
    /// The absorbed account's links that are removed, because the survivor's of the same provider
    /// stay.
    package let dropped: [Account.Link]
    /// The survivor's links that are removed, because the absorbed account's of the same provider
    /// replace them.
    package let replaced: [Account.Link]
    /// All links of the survivor afterwards, in linking order.
    package let links: [Account.Link]
    /// The absorbed account's second factors and recovery codes, which are the survivor's from here on.
    ///
    /// Always empty in version 1.
    package let factors: [MergedFactor]
    /// The digest of the plan that was agreed to.
    package let plan: Digest
    /// The person of support that asked for the merge, which the actor then confirmed; the role is not stored.
    ///
    /// Nil for a merge by the account holder, and where neither account had a second factor.
    package let asker: Principal?

    /// States which accounts were merged, and the effect on their links; without factors and an asker it is written
    /// as version 1.
    package init(
        survivor: AccountID, absorbed: AccountID, cause: Cause, moved: [Account.Link],
        dropped: [Account.Link], replaced: [Account.Link], links: [Account.Link],
        factors: [MergedFactor] = [], plan: Digest, asker: Principal? = nil
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.cause = cause
        self.moved = moved
        self.dropped = dropped
        self.replaced = replaced
        self.links = links
        self.factors = factors
        self.plan = plan
        self.asker = cause == .support ? asker : nil
    }

    package static let newestVersion = 2
    package var version: Int { factors.isEmpty && asker == nil ? 1 : 2 }

    package var outcome: Event.Outcome { .accepted }

    package var accounts: [AccountID] { [survivor, absorbed] }

    package var details: EntryDetails {
        EntryDetails(values: [
            ("asker", (asker?.id.description).map(EntryDetails.Value.text)),
            ("asker_type", (asker?.kind.rawValue).map(EntryDetails.Value.text)),
            ("cause", .text(cause.rawValue)), ("dropped", .links(dropped)),
            ("factors", factors.fieldText.map(EntryDetails.Value.text)),
            ("links", .links(links)), ("moved", .links(moved)),
            ("plan", .text(plan.description)), ("replaced", .links(replaced)),
        ])
    }

    package var verb: String { "absorbed" }
    package var attributes: EventAttributes { EventAttributes(reason: cause.rawValue) }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .accountHolder: [.clientIP]
        case .support: [.caseReference, .reason]
        }
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        (survivor, absorbed) = try twoAccounts(accounts)
        var reader = details.reader
        let isNewer = details.version >= 2
        asker = try isNewer ? reader.optionalAsker(role: .support) : nil
        cause = try reader.word("cause")
        guard cause == .support || asker == nil else { throw .malformed("details.asker") }
        dropped = try reader.links("dropped")
        factors = try isNewer ? reader.optionalFactors("factors") : []
        guard !isNewer || asker != nil || !factors.isEmpty else {
            throw .malformed("details.factors")
        }
        links = try reader.links("links")
        moved = try reader.links("moved")
        plan = try reader.digest("plan")
        replaced = try reader.links("replaced")
        try reader.end()
    }
}
