/// A business refusal: the ledger works, and the caller is told the reason.
///
/// A refusal is never confused with a fault such as an unavailable database.
package enum Refusal: Error, Hashable, Sendable {
    /// The tenant does not exist.
    case unknownTenant
    /// The caller's session ended, expired or never existed.
    case sessionEnded
    /// The provider is not one of the tenant's.
    case unsupportedProvider
    /// The budget is exhausted; the seconds until a retry can succeed.
    case rateLimited(retryAfterSeconds: Int64)
    /// The credential is invalid.
    case invalidProviderToken
    /// The code is wrong, or its challenge has ended.
    case invalidCode
    /// The address or the password is wrong.
    case invalidPassword
    /// The identity, or the account's slot for the provider, is taken.
    case providerConflict(ConflictRejected.Reason)
    /// The identity has no account, and the caller asked not to open one.
    case accountNotFound
    /// The account has no such identity.
    case providerNotLinked
    /// The account has these identities of the provider, in linking order, and the caller did not name one.
    case identityNotNamed([IdentityID])
    /// The account would have no way to sign in.
    case onlyProvider
    /// The caller's authentication is too old.
    case reauthenticationRequired
    /// The account needs a second factor at every sign-in.
    case secondFactorRequired(AccountID)
    /// The account gets no such factor.
    case factorRefused(EnrolFactor.Obstacle)
    /// The account has no such factor.
    case unknownFactor
    /// An account with a second factor is not merged into another one, nor by support at all.
    case secondFactorEnrolled
    /// The refresh token is unknown, used or expired.
    case invalidRefreshToken
    /// The idempotency key was already used for another request.
    case idempotencyKeyReused
    /// The provider's keys could not be fetched, so the credential cannot be checked.
    case providerUnavailable
    /// The tenant never had an account with this id.
    case unknownAccount
    /// The account was erased, so nothing can be changed.
    case accountErased
    /// The account is disabled, so nothing signs in to it, and it is neither linked nor merged.
    case accountDisabled
    /// The account has not used the phone number for so long that its code alone proves nothing.
    case addressUnused
    /// The erasure plan differs from the one that was agreed to.
    case erasurePlanChanged
    /// The rules require another administrator than the one that asked for the erasure.
    case secondAdministratorRequired
    /// Another person than the one that asked for the undoing of the merge has to confirm it.
    case secondPersonRequired
    /// Another administrator has asked for the erasure, which can be confirmed.
    case erasureRequested
    /// The account has no such request for its erasure, or not any longer.
    case unknownErasureRequest
    /// A legal hold prevents the erasure of the account.
    case legalHold
    /// The account has the maximum number of legal holds.
    case tooManyHolds
    /// The account has no such hold.
    case unknownHold
    /// The account was merged into another one.
    case accountMerged(into: AccountID)
    /// Both accounts are the same, so there is nothing to merge.
    case sameAccount
    /// The provider needs no choice, because the accounts do not both have an identity of it.
    case nothingToChoose(ProviderName)
    /// The accounts have more identities, or absorbed more accounts, than one merge can take.
    case tooMuchToMerge
    /// The merge plan differs from the one that was agreed to.
    case mergePlanChanged
    /// The merge can no longer be undone.
    case mergeSuperseded(UnmergeAccounts.Obstacle)
    /// No merge has this event id.
    case unknownMerge
    /// The identity cannot be linked again.
    case relinkRefused(RelinkProvider.Obstacle)
    /// The rules give a provider that has identities another type or issuer.
    case providerPinned(ProviderName)
    /// The rules lack providers by which alone some accounts can be signed in to.
    case accountsLockedOut([ProviderName])
    /// The rules are too long for an entry.
    case rulesTooLong
}
