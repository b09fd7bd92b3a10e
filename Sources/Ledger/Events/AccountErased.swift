/// A person's data are destroyed: the account's key, and with it every disclosure about the account, its
/// identities and its sessions.
///
/// The account is never touched again, and its identities are forgotten: whoever proves one of them later
/// opens another account, with an identity of another name.
package struct AccountErased: EventFact {
    /// On what ground.
    package enum Basis: String, Sendable, CaseIterable {
        /// The person asked for it.
        case dataSubjectRequest = "data_subject_request"
        /// The data had been kept long enough.
        case retention
        /// The operator decided it.
        case `operator`
        /// The account had been erased, and a restored backup brought it back.
        case restored

        /// Whether somebody may name it; the last one is for a restore alone.
        package var canBeAsked: Bool { self != .restored }
    }

    package let account: AccountID
    package let basis: Basis

    /// States which account was erased and on what ground.
    package init(account: AccountID, basis: Basis) {
        self.account = account
        self.basis = basis
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("basis", basis.rawValue)])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        basis = try reader.word("basis")
        try reader.end()
    }
}
