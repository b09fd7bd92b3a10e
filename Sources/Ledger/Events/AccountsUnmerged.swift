/// A merge is taken back: every link goes to the account that it came from, with its time and its place
/// in linking order, and the absorbed account has its life again.
package struct AccountsUnmerged: EventFact {
    /// The account that had absorbed the other one.
    package let survivor: AccountID
    package let absorbed: AccountID
    /// The `AccountsMerged` that is taken back.
    package let merge: EventID
    /// The links that go back to the absorbed account, in linking order.
    package let returned: [Account.Link]
    /// The links that the survivor had given up in the merge and has again.
    package let restored: [Account.Link]
    /// Everything that the survivor can be signed in with afterwards, in linking order.
    package let links: [Account.Link]

    /// States which merge was taken back, and what came of the links.
    package init(
        survivor: AccountID, absorbed: AccountID, merge: EventID, returned: [Account.Link],
        restored: [Account.Link], links: [Account.Link]
    ) {
        self.survivor = survivor
        self.absorbed = absorbed
        self.merge = merge
        self.returned = returned
        self.restored = restored
        self.links = links
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [survivor, absorbed] }

    package var details: EntryDetails {
        EntryDetails(values: [
            ("links", .links(links)), ("merge", .text(merge.description)),
            ("restored", .links(restored)), ("returned", .links(returned)),
        ])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        (survivor, absorbed) = try twoAccounts(accounts)
        var reader = details.reader
        links = try reader.links("links")
        merge = try reader.id("merge")
        restored = try reader.links("restored")
        returned = try reader.links("returned")
        try reader.end()
    }
}
