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
    /// The reason why a plan of support took effect, also for recovery codes, which go with the last factor; `due` for
    /// any other cause.
    package let effect: PlanEffect

    /// States which factor an account lost, and why.
    package init(
        account: AccountID, cause: Cause, factor: FactorID, kind: FactorKind,
        effect: PlanEffect = .due
    ) {
        self.account = account
        self.cause = cause
        self.factor = factor
        self.kind = kind
        self.effect = cause == .support ? effect : .due
    }

    package static let newestVersion = 2
    package var version: Int { cause == .support && effect != .unstated ? 2 : 1 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("asker", effect.asker?.id.description),
            ("asker_type", effect.asker?.kind.rawValue),
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
        cause == .holder ? [.clientIP] : effect.requiredDisclosures
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        // Version 2 is of support alone.
        let isByPlan = details.version >= 2
        let asker = try isByPlan ? reader.optionalAsker(role: .support) : nil
        cause = try reader.word("cause")
        guard cause == .support || !isByPlan else { throw .malformed("details.cause") }
        effect = cause != .support ? .due : isByPlan ? PlanEffect(asker: asker) : .unstated
        factor = try reader.id("factor")
        kind = try reader.word("kind")
        try reader.end()
    }
}
