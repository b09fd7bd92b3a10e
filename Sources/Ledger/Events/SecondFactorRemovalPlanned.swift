/// Support planned to remove a second factor for a person who lost it.
///
/// It is removed when it is due, unless the person stops it.
package struct SecondFactorRemovalPlanned: EventFact {
    package let account: AccountID
    /// When the factor is removed.
    package let due: Timestamp
    package let factor: FactorID
    package let kind: FactorKind

    /// States which factor is to be removed, and when.
    package init(account: AccountID, due: Timestamp, factor: FactorID, kind: FactorKind) {
        self.account = account
        self.due = due
        self.factor = factor
        self.kind = kind
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("due", due.description), ("factor", factor.description), ("kind", kind.rawValue),
        ])
    }

    package var verb: String { "will lose a second factor by support" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.caseReference, .reason] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        due = try reader.time("due")
        factor = try reader.id("factor")
        kind = try reader.word("kind")
        try reader.end()
    }
}
