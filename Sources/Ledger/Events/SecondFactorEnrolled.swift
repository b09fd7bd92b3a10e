/// An account got a second factor or a set of recovery codes.
///
/// The first factor ends all sessions of the account.
package struct SecondFactorEnrolled: EventFact {
    package let account: AccountID
    package let factor: FactorID
    package let kind: FactorKind
    /// Whether the account had no factor before.
    package let isFirst: Bool
    /// The set of recovery codes that it replaces.
    package let replaced: FactorID?

    /// States which factor an account got.
    package init(
        account: AccountID, factor: FactorID, kind: FactorKind, isFirst: Bool,
        replaced: FactorID? = nil
    ) {
        self.account = account
        self.factor = factor
        self.kind = kind
        self.isFirst = isFirst
        self.replaced = replaced
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("factor", factor.description), ("first", String(isFirst)), ("kind", kind.rawValue),
            ("replaced", replaced?.description),
        ])
    }

    package var verb: String {
        switch kind {
        case .totp: "enrolled an authenticator app"
        case .phone: "enrolled a phone number as a second factor"
        case .passkey: "enrolled a passkey as a second factor"
        case .recoveryCodes: "got recovery codes"
        }
    }

    package var attributes: EventAttributes { EventAttributes(reason: kind.rawValue) }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        factor = try reader.id("factor")
        isFirst = try reader.flag("first")
        kind = try reader.word("kind")
        replaced = try reader.optionalID("replaced")
        try reader.end()
    }
}
