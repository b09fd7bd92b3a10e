/// An account lost a second factor or a set of recovery codes.
package struct SecondFactorRemoved: EventFact {
    /// The cause of a removal.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder removed it.
        case holder
        /// Support planned it for a person who lost it, and it was due or a second person agreed.
        case support
        /// Another person proved the address that is all the account can be signed in to with.
        case addressLost = "address_lost"
    }

    package let account: AccountID
    package let cause: Cause
    package let factor: FactorID
    package let kind: FactorKind

    /// States which factor an account lost, and why.
    package init(account: AccountID, cause: Cause, factor: FactorID, kind: FactorKind) {
        self.account = account
        self.cause = cause
        self.factor = factor
        self.kind = kind
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("cause", cause.rawValue), ("factor", factor.description), ("kind", kind.rawValue),
        ])
    }

    package var verb: String {
        switch (cause, kind) {
        case (.addressLost, .totp): "lost an authenticator app with a claimed address"
        case (.addressLost, .phone): "lost a phone number as a second factor with a claimed address"
        case (.addressLost, .passkey): "lost a passkey as a second factor with a claimed address"
        case (.addressLost, .recoveryCodes): "lost the recovery codes with a claimed address"
        case (.holder, .totp): "removed an authenticator app"
        case (.holder, .phone): "removed a phone number as a second factor"
        case (.holder, .passkey): "removed a passkey as a second factor"
        case (.holder, .recoveryCodes): "removed the recovery codes"
        case (.support, .totp): "lost an authenticator app by support"
        case (.support, .phone): "lost a phone number as a second factor by support"
        case (.support, .passkey): "lost a passkey as a second factor by support"
        case (.support, .recoveryCodes): "lost the recovery codes by support"
        }
    }

    package var attributes: EventAttributes { EventAttributes(reason: cause.rawValue) }

    package var requiredDisclosures: [Disclosure.Name] {
        cause == .holder ? [.clientIP] : []
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        factor = try reader.id("factor")
        kind = try reader.word("kind")
        try reader.end()
    }
}
