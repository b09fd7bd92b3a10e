/// A merge was undone: every link returns to its former account with its time and its position in
/// linking order, and the absorbed account is active again.
package struct AccountsUnmerged: EventFact {
    /// The account that had absorbed the other one.
    package let survivor: AccountID
    package let absorbed: AccountID
    /// The `AccountsMerged` that is undone.
    package let merge: EventID
    /// The links that return to the absorbed account, in linking order.
    package let returned: [Account.Link]
    /// The links that the survivor had lost in the merge and gets back.
    package let restored: [Account.Link]
    /// All links of the survivor afterwards, in linking order.
    package let links: [Account.Link]
    /// The second factors and recovery codes that return to the absorbed account.
    ///
    /// Always empty before version 3.
    package let factors: [MergedFactor]
    /// The person of support that asked for the undoing, which the actor then confirmed; the role is not stored.
    ///
    /// Nil in version 1, where one person undid the merge.
    package let asker: Principal?

    /// States which merge was undone, and the effect on the links; without an asker it is written as version 1,
    /// and without factors as version 2.
    package init(
        survivor: AccountID, absorbed: AccountID, merge: EventID, returned: [Account.Link],
        restored: [Account.Link], links: [Account.Link], factors: [MergedFactor] = [],
        asker: Principal? = nil
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.merge = merge
        self.returned = returned
        self.restored = restored
        self.links = links
        self.factors = factors
        self.asker = asker
    }

    package static let newestVersion = 3
    package var version: Int { asker == nil ? 1 : factors.isEmpty ? 2 : 3 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [survivor, absorbed] }

    package var details: EntryDetails {
        EntryDetails(values: [
            ("asker", (asker?.id.description).map(EntryDetails.Value.text)),
            ("asker_type", (asker?.kind.rawValue).map(EntryDetails.Value.text)),
            ("factors", factors.fieldText.map(EntryDetails.Value.text)),
            ("links", .links(links)), ("merge", .text(merge.description)),
            ("restored", .links(restored)), ("returned", .links(returned)),
        ])
    }

    package var verb: String { "gave back" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.caseReference, .reason] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        (survivor, absorbed) = try twoAccounts(accounts)
        var reader = details.reader
        asker = details.version < 2 ? nil : try reader.asker(role: .support)
        factors = try details.version < 3 ? [] : reader.optionalFactors("factors")
        guard details.version < 3 || !factors.isEmpty else { throw .malformed("details.factors") }
        links = try reader.links("links")
        merge = try reader.id("merge")
        restored = try reader.links("restored")
        returned = try reader.links("returned")
        try reader.end()
    }
}
