/// A recovery code stood in for a second factor; it works no more.
package struct RecoveryCodeUsed: EventFact {
    package let account: AccountID
    /// The number of the code in its set, from 0.
    package let code: Int64
    /// The set.
    package let factor: FactorID

    /// States which code of a set was used.
    package init(account: AccountID, code: Int64, factor: FactorID) {
        self.account = account
        self.code = code
        self.factor = factor
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("code", String(code)), ("factor", factor.description)])
    }

    package var verb: String { "used a recovery code" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        code = try reader.integer("code")
        factor = try reader.id("factor")
        try reader.end()
    }
}
