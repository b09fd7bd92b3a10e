/// Two accounts turn out to be one person's: what the absorbed one could be signed in with belongs to the
/// survivor from here on, and the absorbed one's name stands for the survivor.
///
/// The links are written out, so that either account's own history tells what it had afterwards. A link
/// that moves keeps its time and its place in linking order.
package struct AccountsMerged: EventFact {
    /// Who found that the accounts are one person's.
    package enum Cause: String, Sendable, CaseIterable {
        /// The person proved both.
        case accountHolder = "account_holder"
        /// Support did it for them.
        case support
    }

    package let survivor: AccountID
    package let absorbed: AccountID
    package let cause: Cause
    /// The absorbed account's links that go to the survivor, in linking order.
    package let moved: [Account.Link]
    /// The absorbed account's links that belong to no account any more, because the survivor's of the
    /// same provider stay.
    package let dropped: [Account.Link]
    /// The survivor's links that belong to no account any more, because the absorbed account's of the
    /// same provider take their place.
    package let replaced: [Account.Link]
    /// Everything that the survivor can be signed in with afterwards, in linking order.
    package let links: [Account.Link]
    /// The digest of the plan that was agreed to.
    package let plan: Digest

    /// States which accounts were merged, and what came of their links.
    package init(
        survivor: AccountID, absorbed: AccountID, cause: Cause, moved: [Account.Link],
        dropped: [Account.Link], replaced: [Account.Link], links: [Account.Link], plan: Digest
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.cause = cause
        self.moved = moved
        self.dropped = dropped
        self.replaced = replaced
        self.links = links
        self.plan = plan
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [survivor, absorbed] }

    package var details: EntryDetails {
        EntryDetails(values: [
            ("cause", .text(cause.rawValue)), ("dropped", .links(dropped)),
            ("links", .links(links)), ("moved", .links(moved)),
            ("plan", .text(plan.description)), ("replaced", .links(replaced)),
        ])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        (survivor, absorbed) = try twoAccounts(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        dropped = try reader.links("dropped")
        links = try reader.links("links")
        moved = try reader.links("moved")
        plan = try reader.digest("plan")
        replaced = try reader.links("replaced")
        try reader.end()
    }
}
