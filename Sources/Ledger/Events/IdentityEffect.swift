/// The effect of an event on identities: on the accounts that they belong to, and on their e-mails.
///
/// Folds of identities switch over the effect rather than over all events, so a new event states
/// its effect here once.
package enum IdentityEffect: Sendable {
    /// Every identity stays as it is.
    case none
    case linked(ProviderLinked)
    case unlinked(ProviderUnlinked)
    /// The identity stays where it is, and its e-mail is the one that the event discloses, if any.
    case signedIn(SignedIn)
    case merged(AccountsMerged)
    case unmerged(AccountsUnmerged)
    /// Every identity of the account is forgotten.
    case erased(AccountErased)
}

extension Event {
    /// The effect on identities.
    package var identityEffect: IdentityEffect {
        switch self {
        case .providerLinked(let fact): .linked(fact)
        case .providerUnlinked(let fact): .unlinked(fact)
        case .signedIn(let fact): .signedIn(fact)
        case .accountsMerged(let fact): .merged(fact)
        case .accountsUnmerged(let fact): .unmerged(fact)
        case .accountErased(let fact): .erased(fact)
        case .ledgerOpened, .keyRotated, .accountOpened, .conflictRejected, .linkRejected,
            .unlinkRejected, .signedOut, .sessionRevoked, .legalHoldSet, .legalHoldLifted,
            .ledgerRestored, .rulesSet, .addressClaimed, .addressConfirmed, .addressReleased,
            .addressChanged, .passwordSet,
            .accountDisabled, .accountEnabled, .sessionsEnded, .secondFactorEnrolled,
            .secondFactorRemoved, .secondFactorRefused, .recoveryCodeUsed,
            .secondFactorRemovalPlanned, .secondFactorRemovalStopped, .passkeyRegistered,
            .signInThrottled, .providerUnlinkPlanned, .providerUnlinkStopped, .accountNamed:
            .none
        }
    }

    /// The account that the event erases; nil for any other event.
    package var erasedAccount: AccountID? {
        if case .erased(let fact) = identityEffect { fact.account } else { nil }
    }
}
