/// The closed list of codes that an error answer can carry.
///
/// A code is what a program decides by; the message beside it is for people and may change. The
/// status that stands before each code is the one it comes with; ``invalidRequest`` comes with 417 and
/// 431, too.
public enum ErrorCode: String, Codable, Sendable, CaseIterable {
    /// 400: the request breaks the rules of its route.
    case invalidRequest = "INVALID_REQUEST"
    /// 400: the tenant has no such provider.
    case unsupportedProvider = "UNSUPPORTED_PROVIDER"
    /// 400: nothing that can be signed in with would be left.
    case cannotUnlinkOnlyProvider = "CANNOT_UNLINK_ONLY_PROVIDER"
    /// 401: the access token is missing, bad, expired or of a session that ended; refresh and try
    /// again.
    case invalidAccessToken = "INVALID_ACCESS_TOKEN"
    /// 401: the refresh token is unknown, used up or too old; sign in again.
    case invalidRefreshToken = "INVALID_REFRESH_TOKEN"
    /// 401: the provider's ID token proves nothing.
    case invalidProviderToken = "INVALID_PROVIDER_TOKEN"
    /// 401: the API key is missing, unknown, expired, revoked or of another tenant.
    case invalidAPIKey = "INVALID_API_KEY"
    /// 403: the API key's role may not do this.
    case forbidden = "FORBIDDEN"
    /// 403: the caller proved who they are too long ago; sign in again, then repeat.
    case reauthenticationRequired = "REAUTHENTICATION_REQUIRED"
    /// 404: no route or no tenant has this path.
    case notFound = "NOT_FOUND"
    /// 404: the log has no event with this id.
    case eventNotFound = "EVENT_NOT_FOUND"
    /// 404: no signed checkpoint covers this yet; ask again a little later.
    case notSealedYet = "NOT_SEALED_YET"
    /// 404: no checkpoint of this size was signed.
    case sizeNotSigned = "SIZE_NOT_SIGNED"
    /// 404: the identity has no account and the caller asked not to open one, or no account has the id
    /// in the path.
    case accountNotFound = "ACCOUNT_NOT_FOUND"
    /// 404: the account has no such identity.
    case providerNotLinked = "PROVIDER_NOT_LINKED"
    /// 404: the account has no such legal hold.
    case holdNotFound = "HOLD_NOT_FOUND"
    /// 405: the path exists, but not for this method.
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    /// 409: the identity, or the provider's place in the account, is taken.
    case providerConflict = "PROVIDER_CONFLICT"
    /// 409: a legal hold keeps the account from being erased.
    case legalHold = "LEGAL_HOLD"
    /// 409: the account has as many legal holds as it may have.
    case tooManyHolds = "TOO_MANY_HOLDS"
    /// 409: the accounts that are to be merged are one account.
    case sameAccount = "SAME_ACCOUNT"
    /// 409: another account stands for the account; `details.merged_into` names it.
    case accountMerged = "ACCOUNT_MERGED"
    /// 409: what would be merged is not what was agreed to, or that was too long ago.
    case mergePlanChanged = "MERGE_PLAN_CHANGED"
    /// 409: what would be erased is not what was agreed to, or that was too long ago.
    case erasurePlanChanged = "ERASURE_PLAN_CHANGED"
    /// 409: the merge can't be taken back any more; `details.reason` says why.
    case mergeSuperseded = "MERGE_SUPERSEDED"
    /// 409: the accounts have more identities, or stand for more accounts, than a merge can take.
    case mergeTooLarge = "MERGE_TOO_LARGE"
    /// 404: no event with this id is a merge.
    case mergeNotFound = "MERGE_NOT_FOUND"
    /// 409: the identity can't be linked again; `details.reason` says why.
    case relinkRefused = "RELINK_REFUSED"
    /// 410: the account was erased; nothing about it can be changed any more.
    case accountErased = "ACCOUNT_ERASED"
    /// 411: the request has a `Transfer-Encoding`; a body's length is announced with `Content-Length`.
    case lengthRequired = "LENGTH_REQUIRED"
    /// 413: the body is longer than the limit.
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    /// 415: the body is not declared as JSON.
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    /// 422: the idempotency key came before with another request.
    case idempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED"
    /// 429: the budget is used up; `Retry-After` says for how long.
    case rateLimited = "RATE_LIMITED"
    /// 500: what is stored does not prove what was asked for: somebody changed it.
    case logDamaged = "LOG_DAMAGED"
    /// 500: the service contradicts itself.
    case internalError = "INTERNAL"
    /// 503: the service, its database or the provider is away; `Retry-After` says for how long.
    case unavailable = "UNAVAILABLE"
}
