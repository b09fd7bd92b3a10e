/// A business no: nothing is wrong with the ledger, and the caller is told why.
///
/// A refusal is never confused with a fault such as a database that is away.
package enum Refusal: Error, Hashable, Sendable {
    /// The tenant does not exist.
    case unknownTenant
    /// The caller's session ended, expired or never was.
    case sessionEnded
    /// The provider is not one of the tenant's.
    case unsupportedProvider
    /// The budget is used up; seconds until it is worth trying again.
    case rateLimited(retryAfterSeconds: Int64)
    /// The ID token proves nothing.
    case invalidProviderToken
    /// The identity, or the provider's place, is taken.
    case providerConflict(ConflictRejected.Reason)
    /// The caller asked not to open an account and has none.
    case accountNotFound
    /// The account has no such identity.
    case providerNotLinked
    /// The account has several identities of the provider and the caller did not name one.
    case identityNotNamed
    /// Nothing that can be signed in with would be left.
    case onlyProvider
    /// The caller proved who they are too long ago.
    case reauthenticationRequired
    /// The refresh token is unknown, used up or too old.
    case invalidRefreshToken
    /// The idempotency key came before, with another request.
    case idempotencyKeyReused
    /// The provider's keys could not be had, so nobody can say whether the ID token is good.
    case providerUnavailable
    /// No account of the tenant ever had this name.
    case unknownAccount
    /// The account was erased, so there is nothing left to change.
    case accountErased
    /// What would be erased is not what was agreed to.
    case erasurePlanChanged
    /// A legal hold keeps the account from being erased.
    case legalHold
    /// The account has as many legal holds as it may have.
    case tooManyHolds
    /// The account has no such hold.
    case unknownHold
    /// Another account stands for the account.
    case accountMerged(into: AccountID)
    /// There is only one account, so there is nothing to merge.
    case sameAccount
    /// The accounts do not both have an identity of the provider, so nobody need choose one.
    case nothingToChoose(ProviderName)
    /// The accounts have more identities, or stand for more accounts, than one merge can take.
    case tooMuchToMerge
    /// What would be merged is not what was agreed to.
    case mergePlanChanged
    /// The merge cannot be taken back any more.
    case mergeSuperseded(UnmergeAccounts.Obstacle)
    /// No event of that name is a merge.
    case unknownMerge
    /// The identity cannot be linked again.
    case relinkRefused(RelinkProvider.Obstacle)
}
