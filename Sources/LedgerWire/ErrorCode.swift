/// The closed list of codes of error responses.
///
/// Programs act on the code; the message beside it is for people and may change. The status before
/// each code is the one it is sent with; ``invalidRequest`` is sent with 417 and 431, too.
public enum ErrorCode: String, Codable, Sendable, CaseIterable {
    /// 400: the request breaks the rules of its route.
    case invalidRequest = "INVALID_REQUEST"
    /// 400: the tenant has no such provider.
    case unsupportedProvider = "UNSUPPORTED_PROVIDER"
    /// 400: the account would have no way to sign in.
    case cannotUnlinkOnlyProvider = "CANNOT_UNLINK_ONLY_PROVIDER"
    /// 400: the new password is too short, too common or has a character that is not allowed.
    case weakPassword = "WEAK_PASSWORD"
    /// 401: the access token is missing, invalid, expired or of an ended session; refresh and try
    /// again.
    case invalidAccessToken = "INVALID_ACCESS_TOKEN"
    /// 401: the refresh token is unknown, used or expired; sign in again.
    case invalidRefreshToken = "INVALID_REFRESH_TOKEN"
    /// 401: the provider's ID token is invalid.
    case invalidProviderToken = "INVALID_PROVIDER_TOKEN"
    /// 401: the code is wrong, used or expired, or was not sent for this request.
    case invalidCode = "INVALID_CODE"
    /// 401: the e-mail address or the password is wrong.
    case invalidPassword = "INVALID_PASSWORD"
    /// 401: the API key is missing, unknown, expired, revoked or of another tenant.
    case invalidAPIKey = "INVALID_API_KEY"
    /// 403: the API key's role does not permit this.
    case forbidden = "FORBIDDEN"
    /// 403: the caller's authentication is too old; sign in again, then repeat.
    case reauthenticationRequired = "REAUTHENTICATION_REQUIRED"
    /// 403: another administrator than the one that asked for the erasure has to confirm it.
    case secondAdministratorRequired = "SECOND_ADMINISTRATOR_REQUIRED"
    /// 403: another person than the one that asked for the undoing of the merge has to confirm it.
    case secondPersonRequired = "SECOND_PERSON_REQUIRED"
    /// 403: the account is disabled; only support can enable it.
    case accountDisabled = "ACCOUNT_DISABLED"
    /// 403: the account has not used the phone number for a long time; sign in another way, and confirm it again.
    case addressUnused = "ADDRESS_UNUSED"
    /// 403: the account needs a second factor; `details` has the token of the next step.
    case secondFactorRequired = "SECOND_FACTOR_REQUIRED"
    /// 404: the path matches no route, or the tenant does not exist.
    case notFound = "NOT_FOUND"
    /// 404: the log has no event with this id.
    case eventNotFound = "EVENT_NOT_FOUND"
    /// 404: no signed checkpoint covers this yet; try again later.
    case notSealedYet = "NOT_SEALED_YET"
    /// 404: no checkpoint of this size was signed.
    case sizeNotSigned = "SIZE_NOT_SIGNED"
    /// 404: the identity has no account and the caller asked not to open one, or the account in the
    /// path does not exist.
    case accountNotFound = "ACCOUNT_NOT_FOUND"
    /// 404: the account has no such identity.
    case providerNotLinked = "PROVIDER_NOT_LINKED"
    /// 404: the account has no such second factor.
    case factorNotFound = "FACTOR_NOT_FOUND"
    /// 404: the account has no such legal hold.
    case holdNotFound = "HOLD_NOT_FOUND"
    /// 404: the account has no such request for its erasure: it was withdrawn, has expired or became void.
    case erasureRequestNotFound = "ERASURE_REQUEST_NOT_FOUND"
    /// 405: the path exists, but does not support this method.
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    /// 409: the identity, or the account's slot for the provider, is taken.
    case providerConflict = "PROVIDER_CONFLICT"
    /// 409: the account can't get this factor; `details.reason` says why.
    case factorRefused = "FACTOR_REFUSED"
    /// 409: an account with a second factor is merged only by its holder, as the one that remains.
    case secondFactorEnrolled = "SECOND_FACTOR_ENROLLED"
    /// 409: a legal hold prevents the erasure of the account.
    case legalHold = "LEGAL_HOLD"
    /// 409: another administrator has asked for the erasure, which can be confirmed.
    case erasureRequested = "ERASURE_REQUESTED"
    /// 409: the account has the maximum number of legal holds.
    case tooManyHolds = "TOO_MANY_HOLDS"
    /// 409: the accounts to merge are already the same account.
    case sameAccount = "SAME_ACCOUNT"
    /// 409: the account was merged into another one, which `details.merged_into` names.
    case accountMerged = "ACCOUNT_MERGED"
    /// 409: the merge plan differs from the one that was agreed to, or that one has expired.
    case mergePlanChanged = "MERGE_PLAN_CHANGED"
    /// 409: the erasure plan differs from the one that was agreed to, or that one has expired.
    case erasurePlanChanged = "ERASURE_PLAN_CHANGED"
    /// 409: the merge can no longer be undone; `details.reason` says why.
    case mergeSuperseded = "MERGE_SUPERSEDED"
    /// 409: the accounts have more identities, or absorbed more accounts, than a merge can take.
    case mergeTooLarge = "MERGE_TOO_LARGE"
    /// 404: no merge has this event id.
    case mergeNotFound = "MERGE_NOT_FOUND"
    /// 409: the identity cannot be linked again; `details.reason` says why.
    case relinkRefused = "RELINK_REFUSED"
    /// 410: the account was erased; nothing about it can be changed.
    case accountErased = "ACCOUNT_ERASED"
    /// 411: the request has a `Transfer-Encoding`; a body requires `Content-Length`.
    case lengthRequired = "LENGTH_REQUIRED"
    /// 413: the body is longer than the limit.
    case payloadTooLarge = "PAYLOAD_TOO_LARGE"
    /// 415: the body is not declared as JSON.
    case unsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE"
    /// 422: the idempotency key was already used for another request.
    case idempotencyKeyReused = "IDEMPOTENCY_KEY_REUSED"
    /// 429: the budget is exhausted; `Retry-After` says for how long.
    case rateLimited = "RATE_LIMITED"
    /// 500: the stored data does not prove what was asked for, because it was changed.
    case logDamaged = "LOG_DAMAGED"
    /// 500: an internal error.
    case internalError = "INTERNAL"
    /// 503: the service, its database or the provider is unavailable; `Retry-After` says for how
    /// long.
    case unavailable = "UNAVAILABLE"
    /// 503: this process is configured with other rules than the tenant's.
    case rulesDiffer = "RULES_DIFFER"
    /// 503: the tenant is being moved to another database, or was.
    case tenantMoved = "TENANT_MOVED"
}
