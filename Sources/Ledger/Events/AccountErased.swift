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
    /// The account that stood for it, which was erased with it: itself where none did.
    ///
    /// Nil in version 1, where the command alone tells what belongs together.
    package let survivor: AccountID?

    /// States which account was erased and on what ground; without a survivor as version 1 did.
    package init(account: AccountID, basis: Basis, survivor: AccountID?) {
        self.account = account
        self.basis = basis
        self.survivor = survivor
    }

    package var version: Int { survivor == nil ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("basis", basis.rawValue), ("survivor", survivor?.description)])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        basis = try reader.word("basis")
        survivor = details.version < 2 ? nil : try reader.id("survivor")
        try reader.end()
    }
}
