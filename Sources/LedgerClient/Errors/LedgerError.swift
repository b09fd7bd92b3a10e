/// The error of every failed call: a refusal of the ledger, a fault, or no answer.
///
/// Programs act on ``code``. No text of an error contains a token, a code, a password or an address.
public struct LedgerError: Error, Sendable {
    /// The code, of the HTTP API's error table or of this client.
    public let code: Code
    /// The HTTP status; nil when no answer came.
    public let status: Int?
    /// The description for developers, in English.
    public let message: String
    /// Further facts by name, such as `["field": "id_token"]`; texts and numbers only.
    public let details: [String: String]
    /// The name of the request in the ledger's log, for a report to its operators.
    public let requestID: String?
    /// The time to wait before another try.
    public let retryAfter: Duration?
    /// The proof of a link by a browser flow that was refused because another account has the identity.
    ///
    /// For ten minutes it signs in to that account, or shows the merge with it.
    public internal(set) var proof: Proof?
    /// The token of that proof.
    var proofToken: String?
    /// The second step of a sign-in, which its session hands out.
    var challenge: SecondFactorChallenge?
    /// Whether the ledger has certainly not acted on the call.
    var isWithoutEffect = false
    /// Whether the answer to an earlier request of the call was lost.
    var followsLostAnswer = false

    /// Describes an error; also for tests of an app.
    public init(
        _ code: Code, status: Int? = nil, message: String, details: [String: String] = [:],
        requestID: String? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.status = status
        self.message = message
        self.details = details
        self.requestID = requestID
        self.retryAfter = retryAfter
    }
}

extension LedgerError {
    /// Returns the error of a link, with the proof that takes the place of the refused one.
    func refusing(_ proof: Proof) -> LedgerError {
        guard case .flow(_, let verifier) = proof, let proofToken else { return self }
        var error = self
        error.proof = .flow(code: proofToken, verifier: verifier)
        return error
    }
}

extension LedgerError: CustomStringConvertible, CustomReflectable {
    /// The code, the status, the message and the request, on one line.
    public var description: String {
        let status = status.map { " \($0)" } ?? ""
        let request = requestID.map { " (request \($0))" } ?? ""
        return "\(code.rawValue)\(status): \(message)\(request)"
    }

    /// A mirror without the second step.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "details": details])
    }
}

extension LedgerError {
    /// A code of an error, of which later releases of the ledger may have further ones.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as the HTTP API writes it, such as `PROVIDER_CONFLICT`.
        public let rawValue: String

        /// Wraps a code, which may be one that this release does not know.
        public init(rawValue: String) { self.rawValue = rawValue }

        private init(_ rawValue: String) { self.rawValue = rawValue }
    }
}

// The codes of the ledger that a call of this client can get.
extension LedgerError.Code {
    /// The request breaks a rule of the API; `details` names the part.
    public static let invalidRequest = Self("INVALID_REQUEST")
    /// The tenant has no such provider, or it cannot be used for this.
    public static let unsupportedProvider = Self("UNSUPPORTED_PROVIDER")
    /// The account would have no way to sign in.
    public static let cannotUnlinkOnlyProvider = Self("CANNOT_UNLINK_ONLY_PROVIDER")
    /// The new password is too short (`details["length_min"]`), too common, or has a character that is not allowed.
    public static let weakPassword = Self("WEAK_PASSWORD")
    /// The access token is refused; calls refresh it by themselves.
    public static let invalidAccessToken = Self("INVALID_ACCESS_TOKEN")
    /// The session has ended: the state is ``AuthState/expired(_:)``.
    public static let invalidRefreshToken = Self("INVALID_REFRESH_TOKEN")
    /// The provider's token, the flow's code or the anonymous secret is not valid.
    public static let invalidProviderToken = Self("INVALID_PROVIDER_TOKEN")
    /// The code is wrong, was used or has expired.
    public static let invalidCode = Self("INVALID_CODE")
    /// The e-mail address or the password is wrong.
    public static let invalidPassword = Self("INVALID_PASSWORD")
    /// The sign-in is too old for this: sign in again first.
    public static let reauthenticationRequired = Self("REAUTHENTICATION_REQUIRED")
    /// Support has disabled the account.
    public static let accountDisabled = Self("ACCOUNT_DISABLED")
    /// The account has not used the phone number for a long time: sign in another way, and link the number again.
    public static let addressUnused = Self("ADDRESS_UNUSED")
    /// The account needs a second factor, which sign-ins return as ``SignInResult/needsSecondFactor(_:)``.
    public static let secondFactorRequired = Self("SECOND_FACTOR_REQUIRED")
    /// The address has no such path, or the ledger no such tenant.
    public static let notFound = Self("NOT_FOUND")
    /// No account has the identity.
    public static let accountNotFound = Self("ACCOUNT_NOT_FOUND")
    /// The account has no such identity.
    public static let providerNotLinked = Self("PROVIDER_NOT_LINKED")
    /// The path has no such method.
    public static let methodNotAllowed = Self("METHOD_NOT_ALLOWED")
    /// The identity is in use, or the account has one of this provider.
    public static let providerConflict = Self("PROVIDER_CONFLICT")
    /// The account to merge has a second factor, so the person signs in to it, too:
    /// ``AuthSession/previewMerge(ofAccountWith:keep:)``.
    public static let secondFactorEnrolled = Self("SECOND_FACTOR_ENROLLED")
    /// The account cannot have this second factor, or cannot do without it; `details` has the `reason`.
    public static let factorRefused = Self("FACTOR_REFUSED")
    /// The account has no such second factor.
    public static let factorNotFound = Self("FACTOR_NOT_FOUND")
    /// The accounts to merge are one already.
    public static let sameAccount = Self("SAME_ACCOUNT")
    /// The accounts have changed since the preview of the merge, or it has expired.
    public static let mergePlanChanged = Self("MERGE_PLAN_CHANGED")
    /// The accounts have more identities, or have absorbed more accounts, than a merge can take.
    public static let mergeTooLarge = Self("MERGE_TOO_LARGE")
    /// A proxy removed the length of the body.
    public static let lengthRequired = Self("LENGTH_REQUIRED")
    /// The body is longer than the limit.
    public static let payloadTooLarge = Self("PAYLOAD_TOO_LARGE")
    /// A proxy changed the type of the body.
    public static let unsupportedMediaType = Self("UNSUPPORTED_MEDIA_TYPE")
    /// The idempotency key was used for another request.
    public static let idempotencyKeyReused = Self("IDEMPOTENCY_KEY_REUSED")
    /// Too many tries; `retryAfter` has the time until the next one.
    public static let rateLimited = Self("RATE_LIMITED")
    /// A fault of the ledger.
    public static let internalError = Self("INTERNAL")
    /// The ledger, its database or the provider is not available.
    public static let unavailable = Self("UNAVAILABLE")
    /// The server's configuration is not that of the tenant.
    public static let rulesDiffer = Self("RULES_DIFFER")
    /// The tenant is being moved to another database, or was.
    public static let tenantMoved = Self("TENANT_MOVED")

    /// The codes of the ledger's error table that a call of this client can get.
    package static let ofLedger: [Self] = [
        .invalidRequest, .unsupportedProvider, .cannotUnlinkOnlyProvider, .weakPassword,
        .invalidAccessToken, .invalidRefreshToken, .invalidProviderToken, .invalidCode,
        .invalidPassword, .reauthenticationRequired, .accountDisabled, .addressUnused,
        .secondFactorRequired, .notFound, .accountNotFound, .providerNotLinked, .methodNotAllowed,
        .providerConflict, .secondFactorEnrolled, .factorRefused, .factorNotFound, .sameAccount,
        .mergePlanChanged, .mergeTooLarge,
        .lengthRequired, .payloadTooLarge, .unsupportedMediaType, .idempotencyKeyReused,
        .rateLimited, .internalError, .unavailable, .rulesDiffer, .tenantMoved,
    ]
}

// The codes of this client.
extension LedgerError.Code {
    /// No answer came, so a command may have taken effect.
    public static let noAnswer = Self("NO_ANSWER")
    /// The answer is not the ledger's, such as the page of a hotel's network.
    public static let unexpectedAnswer = Self("UNEXPECTED_ANSWER")
    /// The task was cancelled; a command may have taken effect.
    public static let cancelled = Self("CANCELLED")
    /// The person cancelled the sign-in in the browser; nothing was changed.
    public static let cancelledByPerson = Self("CANCELLED_BY_PERSON")
    /// There is no session, or one of another account took the place of the one that is shown.
    public static let noSession = Self("NO_SESSION")
    /// The gate refused the use of the session, such as for want of a fingerprint.
    public static let gateClosed = Self("GATE_CLOSED")
    /// The store cannot be read or written, or another process keeps it locked.
    public static let storeFailed = Self("STORE_FAILED")
    /// The browser came back without a proof, other than by a cancellation.
    public static let browserFailed = Self("BROWSER_FAILED")
    /// The authenticator of a passkey did not respond, other than by a cancellation.
    public static let authenticatorFailed = Self("AUTHENTICATOR_FAILED")

    /// The codes that no ledger sends.
    package static let ofClient: [Self] = [
        .noAnswer, .unexpectedAnswer, .cancelled, .cancelledByPerson, .noSession, .gateClosed,
        .storeFailed, .browserFailed, .authenticatorFailed,
    ]
}
