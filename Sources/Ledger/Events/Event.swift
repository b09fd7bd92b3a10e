/// The closed catalogue of facts that the log records.
///
/// A new fact is one file in this folder and one case here; the compiler then lists the places that
/// must handle it. Only those that every event can concern switch over all events; folds of
/// identities switch over ``identityEffect``.
package enum Event: Hashable, Sendable {
    case ledgerOpened(LedgerOpened)
    case accountOpened(AccountOpened)
    case providerLinked(ProviderLinked)
    case providerUnlinked(ProviderUnlinked)
    case conflictRejected(ConflictRejected)
    case linkRejected(LinkRejected)
    case unlinkRejected(UnlinkRejected)
    case signedIn(SignedIn)
    case signedOut(SignedOut)
    case sessionRevoked(SessionRevoked)
    case keyRotated(KeyRotated)
    case accountErased(AccountErased)
    case legalHoldSet(LegalHoldSet)
    case legalHoldLifted(LegalHoldLifted)
    case ledgerRestored(LedgerRestored)
    case accountsMerged(AccountsMerged)
    case accountsUnmerged(AccountsUnmerged)
    case rulesSet(RulesSet)
    case addressClaimed(AddressClaimed)
    case addressConfirmed(AddressConfirmed)
    case addressReleased(AddressReleased)
    case addressChanged(AddressChanged)
    case passwordSet(PasswordSet)
    case accountDisabled(AccountDisabled)
    case accountEnabled(AccountEnabled)
    case sessionsEnded(SessionsEnded)
    case secondFactorEnrolled(SecondFactorEnrolled)
    case secondFactorRemoved(SecondFactorRemoved)
    case secondFactorRefused(SecondFactorRefused)
    case recoveryCodeUsed(RecoveryCodeUsed)
    case secondFactorRemovalPlanned(SecondFactorRemovalPlanned)
    case secondFactorRemovalStopped(SecondFactorRemovalStopped)
    case passkeyRegistered(PasskeyRegistered)
    case signInThrottled(SignInThrottled)
    case providerUnlinkPlanned(ProviderUnlinkPlanned)
    case providerUnlinkStopped(ProviderUnlinkStopped)
    case accountNamed(AccountNamed)

    /// The stored names, which never change.
    package enum Name: String, CaseIterable, Sendable {
        case ledgerOpened = "LedgerOpened"
        case accountOpened = "AccountOpened"
        case providerLinked = "ProviderLinked"
        case providerUnlinked = "ProviderUnlinked"
        case conflictRejected = "ConflictRejected"
        case linkRejected = "LinkRejected"
        case unlinkRejected = "UnlinkRejected"
        case signedIn = "SignedIn"
        case signedOut = "SignedOut"
        case sessionRevoked = "SessionRevoked"
        case keyRotated = "KeyRotated"
        case accountErased = "AccountErased"
        case legalHoldSet = "LegalHoldSet"
        case legalHoldLifted = "LegalHoldLifted"
        case ledgerRestored = "LedgerRestored"
        case accountsMerged = "AccountsMerged"
        case accountsUnmerged = "AccountsUnmerged"
        case rulesSet = "RulesSet"
        case addressClaimed = "AddressClaimed"
        case addressConfirmed = "AddressConfirmed"
        case addressReleased = "AddressReleased"
        case addressChanged = "AddressChanged"
        case passwordSet = "PasswordSet"
        case accountDisabled = "AccountDisabled"
        case accountEnabled = "AccountEnabled"
        case sessionsEnded = "SessionsEnded"
        case secondFactorEnrolled = "SecondFactorEnrolled"
        case secondFactorRemoved = "SecondFactorRemoved"
        case secondFactorRefused = "SecondFactorRefused"
        case recoveryCodeUsed = "RecoveryCodeUsed"
        case secondFactorRemovalPlanned = "SecondFactorRemovalPlanned"
        case secondFactorRemovalStopped = "SecondFactorRemovalStopped"
        case passkeyRegistered = "PasskeyRegistered"
        case signInThrottled = "SignInThrottled"
        case providerUnlinkPlanned = "ProviderUnlinkPlanned"
        case providerUnlinkStopped = "ProviderUnlinkStopped"
        case accountNamed = "AccountNamed"
    }

    /// The version in which the fact was read or is written.
    package var version: Int { fact.version }

    /// The outcome of an event.
    package enum Outcome: String, Sendable {
        case accepted
        case refused
    }

    /// The fact itself.
    package var fact: any EventFact {
        switch self {
        case .ledgerOpened(let fact): fact
        case .accountOpened(let fact): fact
        case .providerLinked(let fact): fact
        case .providerUnlinked(let fact): fact
        case .conflictRejected(let fact): fact
        case .linkRejected(let fact): fact
        case .unlinkRejected(let fact): fact
        case .signedIn(let fact): fact
        case .signedOut(let fact): fact
        case .sessionRevoked(let fact): fact
        case .keyRotated(let fact): fact
        case .accountErased(let fact): fact
        case .legalHoldSet(let fact): fact
        case .legalHoldLifted(let fact): fact
        case .ledgerRestored(let fact): fact
        case .accountsMerged(let fact): fact
        case .accountsUnmerged(let fact): fact
        case .rulesSet(let fact): fact
        case .addressClaimed(let fact): fact
        case .addressConfirmed(let fact): fact
        case .addressReleased(let fact): fact
        case .addressChanged(let fact): fact
        case .passwordSet(let fact): fact
        case .accountDisabled(let fact): fact
        case .accountEnabled(let fact): fact
        case .sessionsEnded(let fact): fact
        case .secondFactorEnrolled(let fact): fact
        case .secondFactorRemoved(let fact): fact
        case .secondFactorRefused(let fact): fact
        case .recoveryCodeUsed(let fact): fact
        case .secondFactorRemovalPlanned(let fact): fact
        case .secondFactorRemovalStopped(let fact): fact
        case .passkeyRegistered(let fact): fact
        case .signInThrottled(let fact): fact
        case .providerUnlinkPlanned(let fact): fact
        case .providerUnlinkStopped(let fact): fact
        case .accountNamed(let fact): fact
        }
    }

    /// The stored name.
    package var name: Name {
        switch self {
        case .ledgerOpened: .ledgerOpened
        case .accountOpened: .accountOpened
        case .providerLinked: .providerLinked
        case .providerUnlinked: .providerUnlinked
        case .conflictRejected: .conflictRejected
        case .linkRejected: .linkRejected
        case .unlinkRejected: .unlinkRejected
        case .signedIn: .signedIn
        case .signedOut: .signedOut
        case .sessionRevoked: .sessionRevoked
        case .keyRotated: .keyRotated
        case .accountErased: .accountErased
        case .legalHoldSet: .legalHoldSet
        case .legalHoldLifted: .legalHoldLifted
        case .ledgerRestored: .ledgerRestored
        case .accountsMerged: .accountsMerged
        case .accountsUnmerged: .accountsUnmerged
        case .rulesSet: .rulesSet
        case .addressClaimed: .addressClaimed
        case .addressConfirmed: .addressConfirmed
        case .addressReleased: .addressReleased
        case .addressChanged: .addressChanged
        case .passwordSet: .passwordSet
        case .accountDisabled: .accountDisabled
        case .accountEnabled: .accountEnabled
        case .sessionsEnded: .sessionsEnded
        case .secondFactorEnrolled: .secondFactorEnrolled
        case .secondFactorRemoved: .secondFactorRemoved
        case .secondFactorRefused: .secondFactorRefused
        case .recoveryCodeUsed: .recoveryCodeUsed
        case .secondFactorRemovalPlanned: .secondFactorRemovalPlanned
        case .secondFactorRemovalStopped: .secondFactorRemovalStopped
        case .passkeyRegistered: .passkeyRegistered
        case .signInThrottled: .signInThrottled
        case .providerUnlinkPlanned: .providerUnlinkPlanned
        case .providerUnlinkStopped: .providerUnlinkStopped
        case .accountNamed: .accountNamed
        }
    }

    /// Reads a fact from an entry.
    ///
    /// - Throws: `EntryFault.malformed` when the details or the accounts do not match the type.
    package init(_ name: Name, details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        switch name {
        case .ledgerOpened:
            self = .ledgerOpened(try LedgerOpened(details: details, accounts: accounts))
        case .accountOpened:
            self = .accountOpened(try AccountOpened(details: details, accounts: accounts))
        case .providerLinked:
            self = .providerLinked(try ProviderLinked(details: details, accounts: accounts))
        case .providerUnlinked:
            self = .providerUnlinked(try ProviderUnlinked(details: details, accounts: accounts))
        case .conflictRejected:
            self = .conflictRejected(try ConflictRejected(details: details, accounts: accounts))
        case .linkRejected:
            self = .linkRejected(try LinkRejected(details: details, accounts: accounts))
        case .unlinkRejected:
            self = .unlinkRejected(try UnlinkRejected(details: details, accounts: accounts))
        case .signedIn:
            self = .signedIn(try SignedIn(details: details, accounts: accounts))
        case .signedOut:
            self = .signedOut(try SignedOut(details: details, accounts: accounts))
        case .sessionRevoked:
            self = .sessionRevoked(try SessionRevoked(details: details, accounts: accounts))
        case .keyRotated:
            self = .keyRotated(try KeyRotated(details: details, accounts: accounts))
        case .accountErased:
            self = .accountErased(try AccountErased(details: details, accounts: accounts))
        case .legalHoldSet:
            self = .legalHoldSet(try LegalHoldSet(details: details, accounts: accounts))
        case .legalHoldLifted:
            self = .legalHoldLifted(try LegalHoldLifted(details: details, accounts: accounts))
        case .ledgerRestored:
            self = .ledgerRestored(try LedgerRestored(details: details, accounts: accounts))
        case .accountsMerged:
            self = .accountsMerged(try AccountsMerged(details: details, accounts: accounts))
        case .accountsUnmerged:
            self = .accountsUnmerged(try AccountsUnmerged(details: details, accounts: accounts))
        case .rulesSet:
            self = .rulesSet(try RulesSet(details: details, accounts: accounts))
        case .addressClaimed:
            self = .addressClaimed(try AddressClaimed(details: details, accounts: accounts))
        case .addressConfirmed:
            self = .addressConfirmed(try AddressConfirmed(details: details, accounts: accounts))
        case .addressReleased:
            self = .addressReleased(try AddressReleased(details: details, accounts: accounts))
        case .addressChanged:
            self = .addressChanged(try AddressChanged(details: details, accounts: accounts))
        case .passwordSet:
            self = .passwordSet(try PasswordSet(details: details, accounts: accounts))
        case .accountDisabled:
            self = .accountDisabled(try AccountDisabled(details: details, accounts: accounts))
        case .accountEnabled:
            self = .accountEnabled(try AccountEnabled(details: details, accounts: accounts))
        case .sessionsEnded:
            self = .sessionsEnded(try SessionsEnded(details: details, accounts: accounts))
        case .secondFactorEnrolled:
            self = .secondFactorEnrolled(
                try SecondFactorEnrolled(details: details, accounts: accounts))
        case .secondFactorRemoved:
            self = .secondFactorRemoved(
                try SecondFactorRemoved(details: details, accounts: accounts))
        case .secondFactorRefused:
            self = .secondFactorRefused(
                try SecondFactorRefused(details: details, accounts: accounts))
        case .recoveryCodeUsed:
            self = .recoveryCodeUsed(
                try RecoveryCodeUsed(details: details, accounts: accounts))
        case .secondFactorRemovalPlanned:
            self = .secondFactorRemovalPlanned(
                try SecondFactorRemovalPlanned(details: details, accounts: accounts))
        case .secondFactorRemovalStopped:
            self = .secondFactorRemovalStopped(
                try SecondFactorRemovalStopped(details: details, accounts: accounts))
        case .passkeyRegistered:
            self = .passkeyRegistered(try PasskeyRegistered(details: details, accounts: accounts))
        case .signInThrottled:
            self = .signInThrottled(try SignInThrottled(details: details, accounts: accounts))
        case .providerUnlinkPlanned:
            self = .providerUnlinkPlanned(
                try ProviderUnlinkPlanned(details: details, accounts: accounts))
        case .providerUnlinkStopped:
            self = .providerUnlinkStopped(
                try ProviderUnlinkStopped(details: details, accounts: accounts))
        case .accountNamed:
            self = .accountNamed(try AccountNamed(details: details, accounts: accounts))
        }
    }
}

extension Event.Name {
    /// The newest version of the type's details.
    package var newestVersion: Int { factType.newestVersion }

    /// The type of the facts.
    private var factType: any EventFact.Type {
        switch self {
        case .ledgerOpened: LedgerOpened.self
        case .accountOpened: AccountOpened.self
        case .providerLinked: ProviderLinked.self
        case .providerUnlinked: ProviderUnlinked.self
        case .conflictRejected: ConflictRejected.self
        case .linkRejected: LinkRejected.self
        case .unlinkRejected: UnlinkRejected.self
        case .signedIn: SignedIn.self
        case .signedOut: SignedOut.self
        case .sessionRevoked: SessionRevoked.self
        case .keyRotated: KeyRotated.self
        case .accountErased: AccountErased.self
        case .legalHoldSet: LegalHoldSet.self
        case .legalHoldLifted: LegalHoldLifted.self
        case .ledgerRestored: LedgerRestored.self
        case .accountsMerged: AccountsMerged.self
        case .accountsUnmerged: AccountsUnmerged.self
        case .rulesSet: RulesSet.self
        case .addressClaimed: AddressClaimed.self
        case .addressConfirmed: AddressConfirmed.self
        case .addressReleased: AddressReleased.self
        case .addressChanged: AddressChanged.self
        case .passwordSet: PasswordSet.self
        case .accountDisabled: AccountDisabled.self
        case .accountEnabled: AccountEnabled.self
        case .sessionsEnded: SessionsEnded.self
        case .secondFactorEnrolled: SecondFactorEnrolled.self
        case .secondFactorRemoved: SecondFactorRemoved.self
        case .secondFactorRefused: SecondFactorRefused.self
        case .recoveryCodeUsed: RecoveryCodeUsed.self
        case .secondFactorRemovalPlanned: SecondFactorRemovalPlanned.self
        case .secondFactorRemovalStopped: SecondFactorRemovalStopped.self
        case .passkeyRegistered: PasskeyRegistered.self
        case .signInThrottled: SignInThrottled.self
        case .providerUnlinkPlanned: ProviderUnlinkPlanned.self
        case .providerUnlinkStopped: ProviderUnlinkStopped.self
        case .accountNamed: AccountNamed.self
        }
    }
}

/// The properties of every fact.
///
/// A fact that was read from an older version has every property of the newest one, and is written
/// back in its own version: defaults for what the older version lacks never appear in ``details``.
package protocol EventFact: Hashable, Sendable {
    /// The newest version of ``details``; every version from 1 on stays readable and writable.
    static var newestVersion: Int { get }
    /// The version of ``details``: the oldest one that holds every property of the fact.
    var version: Int { get }
    /// Whether the fact is an action or a refusal.
    var outcome: Event.Outcome { get }
    /// Every account that the fact touches, the one that caused it first.
    var accounts: [AccountID] { get }
    /// The fact's own fields in the entry, sorted by name.
    var details: EntryDetails { get }
    /// The action of the first account that the event touches, or what happened to it, in plain
    /// words; the action of the ledger, if it touches none.
    var verb: String { get }
    /// The objects beside the accounts.
    var attributes: EventAttributes { get }
    /// The disclosures that every event of its type and cause has about its first account, since
    /// the first release.
    ///
    /// The e-mail and its verification are optional, because a provider may withhold them, and so
    /// is the user agent, because a client may omit it. Account holders use HTTP, so the ledger
    /// knows their IP address.
    var requiredDisclosures: [Disclosure.Name] { get }
    /// Reads the fact.
    ///
    /// - Throws: `EntryFault.malformed` when a field is missing, surplus or malformed.
    init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault)
}

extension EventFact {
    package static var newestVersion: Int { 1 }
    package var version: Int { 1 }
}
