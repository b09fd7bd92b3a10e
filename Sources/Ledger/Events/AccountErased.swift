/// A person's data are destroyed: the account's key, and with it every disclosure about the
/// account, its identities and its sessions.
///
/// No later event touches the account, and its identities are forgotten: a later sign-in with one
/// of them opens another account, with a new identity.
package struct AccountErased: EventFact {
    /// The legal ground of an erasure.
    package enum Basis: String, Sendable, CaseIterable {
        /// The person requested it.
        case dataSubjectRequest = "data_subject_request"
        /// The retention period ended.
        case retention
        /// The operator decided it.
        case `operator`
        /// The account was erased before, and a restored backup brought it back.
        case restored

        /// Whether a request may state it; the last one is for restores only.
        package var isRequestable: Bool { self != .restored }
    }

    package let account: AccountID
    package let basis: Basis
    /// The account's survivor, which was erased with it: itself when it was not merged.
    ///
    /// Nil in version 1, where erasures that belong together share only the command.
    package let survivor: AccountID?
    /// The administrator that asked for the erasure, which the actor then confirmed; the role is not stored.
    ///
    /// Nil before version 3, and where one person erased the account.
    package let asker: Principal?

    /// States which account was erased and on what ground; without a survivor it is written as
    /// version 1, and without an asker as version 2.
    package init(
        account: AccountID, basis: Basis, survivor: AccountID?, asker: Principal? = nil
    ) {
        self.account = account
        self.basis = basis
        self.survivor = survivor
        self.asker = survivor == nil ? nil : asker
    }

    package static let newestVersion = 3
    package var version: Int { asker == nil ? (survivor == nil ? 1 : 2) : 3 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("asker", asker?.id.description), ("asker_type", asker?.kind.rawValue),
            ("basis", basis.rawValue), ("survivor", survivor?.description),
        ])
    }

    package var verb: String { "was erased" }
    package var attributes: EventAttributes { EventAttributes(reason: basis.rawValue) }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        asker = details.version < 3 ? nil : try reader.asker(role: .admin)
        basis = try reader.word("basis")
        survivor = details.version < 2 ? nil : try reader.id("survivor")
        try reader.end()
    }
}
