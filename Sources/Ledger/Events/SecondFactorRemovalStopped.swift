/// The planned removal of a second factor was stopped.
package struct SecondFactorRemovalStopped: EventFact {
    /// The cause of a stop.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder asked for it.
        case holder
        /// The account holder signed in with the factor, so it is not lost.
        case used
        /// Support asked for it.
        case support
        /// When it was due, the account could not have been signed in to with its other factors; since version 2.
        case sameKind = "same_kind"
    }

    package let account: AccountID
    package let cause: Cause
    package let factor: FactorID

    /// States which factor stays.
    package init(account: AccountID, cause: Cause, factor: FactorID) {
        self.account = account
        self.cause = cause
        self.factor = factor
    }

    package static let newestVersion = 2
    package var version: Int { cause == .sameKind ? 2 : 1 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("cause", cause.rawValue), ("factor", factor.description)])
    }

    package var verb: String {
        switch cause {
        case .holder: "stopped the removal of a second factor"
        case .used: "used a second factor, which stopped its removal"
        case .support: "keeps a second factor by support"
        case .sameKind: "keeps a second factor that the others can't replace"
        }
    }

    package var attributes: EventAttributes { EventAttributes(reason: cause.rawValue) }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .holder, .used: [.clientIP]
        case .support: [.caseReference, .reason]
        case .sameKind: []
        }
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        factor = try reader.id("factor")
        try reader.end()
        guard version == details.version else { throw .malformed("v") }
    }
}
