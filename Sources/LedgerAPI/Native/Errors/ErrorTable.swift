internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire
internal import Passwords

/// The response to an error: the only place where errors get statuses, codes and messages.
struct ErrorAnswer {
    /// The seconds that a client should wait before it retries, by cause.
    private enum RetryAfter {
        static let starting: Int64 = 1
        static let overloaded: Int64 = 1
        static let unavailable: Int64 = 2
        static let providerUnavailable: Int64 = 5
        static let rulesDiffer: Int64 = 5
        static let tenantMoved: Int64 = 5
    }

    /// The challenges of RFC 6750, section 3: an error code only for a token that was sent.
    private enum Challenge {
        static let plain = "Bearer"
        static let invalidToken = "Bearer error=\"invalid_token\""
    }

    private static let inUse = "This account is already in use"

    let status: Int
    let code: ErrorCode
    let message: String
    var details: [String: ErrorDetail]?
    var headers: [(name: String, value: String)] = []

    private init(
        _ status: Int, _ code: ErrorCode, _ message: String, details: [String: ErrorDetail]? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details
    }

    private func with(_ name: String, _ value: String) -> ErrorAnswer {
        var answer = self
        answer.headers.append((name, value))
        return answer
    }

    private func retry(after seconds: Int64) -> ErrorAnswer {
        with("Retry-After", String(seconds))
    }

    private func challenge(_ challenge: String) -> ErrorAnswer {
        with("WWW-Authenticate", challenge)
    }

    var response: HTTPResponse {
        .json(
            ErrorBody(error: ErrorBody.Content(code: code, message: message, details: details)),
            status: status, headers: headers)
    }
}

extension ErrorAnswer {
    init(_ error: APIError) {
        self =
            switch error {
            case .refused(let refusal): Self(refusal)
            case .faulted(let fault): Self(fault)
            case .invalidRequest(let flaw):
                Self(400, .invalidRequest, flaw.message, details: flaw.details)
            case .weakPassword(let refusal): Self(refusal)
            case .secondFactorRequired(let token, let factors):
                Self(
                    403, .secondFactorRequired, "This account needs a second factor",
                    details: [
                        "sign_in_token": .text(token),
                        "factors": .factors(
                            factors.map {
                                FactorAnswer(
                                    factorID: $0.factor.id.description,
                                    type: $0.factor.kind.rawValue, hint: $0.hint)
                            }),
                        "expires_in": .number(SecondFactorTokens.signInSeconds),
                    ])
            case .codeNeeded(let seconds):
                Self(
                    429, .rateLimited, "Too many attempts: a code to the address is needed",
                    details: ["needs": "code"]
                ).retry(after: seconds)
            case .identityHeld(.token(let token)):
                Self(
                    409, .providerConflict, Self.inUse, details: ["proof_token": .text(token)])
            case .identityHeld(.cookie(let cookie)):
                Self(Refusal.providerConflict(.heldByOther))
                    .with("Set-Cookie", PageFlowCookie.set(cookie).value)
            case .notJSON:
                Self(415, .unsupportedMediaType, "Content-Type must be application/json")
            case .accessTokenMissing:
                Self(401, .invalidAccessToken, "An access token is required")
                    .challenge(Challenge.plain)
            case .accessTokenInvalid: .accessTokenInvalid
            case .notOfPage:
                Self(403, .forbidden, "This request is not one of the page: load the page again")
            case .apiKeyMissing:
                Self(401, .invalidAPIKey, "An API key is required").challenge(Challenge.plain)
            case .apiKeyInvalid:
                Self(
                    401, .invalidAPIKey,
                    "The API key is invalid, expired or revoked, or the session is over"
                ).challenge(Challenge.invalidToken)
            case .forbidden: Self(403, .forbidden, "The role does not permit this")
            case .accountNotNamed:
                Self(
                    403, .forbidden,
                    "The role may see personal data of one account only: name it with account=",
                    details: ["parameter": "account"])
            case .reasonMissing:
                Self(
                    400, .invalidRequest, "\(ReasonHeader.name) is required: state the reason",
                    details: ["header": .text(ReasonHeader.name)])
            case .eventNotFound: Self(404, .eventNotFound, "There is no event with this id")
            case .noProof(let refusal): Self(refusal)
            case .proofFailed:
                Self(500, .logDamaged, "The stored log is damaged and does not prove this")
            case .notFound: Self(404, .notFound, "Not found")
            case .methodNotAllowed(let allowed):
                Self(405, .methodNotAllowed, "This path does not support this method")
                    .with("Allow", allowed.joined(separator: ", "))
            case .notReady:
                Self(503, .unavailable, "The service is not ready")
                    .retry(after: RetryAfter.unavailable)
            case .starting:
                Self(503, .unavailable, "The service is starting")
                    .retry(after: RetryAfter.starting)
            }
    }

    private init(_ refusal: Refusal) {
        self =
            switch refusal {
            case .unknownTenant: Self(404, .notFound, "Not found")
            case .sessionEnded: .accessTokenInvalid
            case .unsupportedProvider:
                Self(400, .unsupportedProvider, "This provider is not supported")
            case .rateLimited(let seconds):
                Self(429, .rateLimited, "Too many attempts").retry(after: seconds)
            case .invalidProviderToken:
                Self(401, .invalidProviderToken, "The provider's token is invalid")
                    .challenge(Challenge.plain)
            case .invalidCode:
                Self(401, .invalidCode, "The code is wrong or has expired")
                    .challenge(Challenge.plain)
            case .invalidPassword:
                Self(401, .invalidPassword, "The e-mail address or the password is wrong")
                    .challenge(Challenge.plain)
            case .providerConflict: Self(409, .providerConflict, Self.inUse)
            case .accountNotFound:
                Self(404, .accountNotFound, "There is no account for this identity")
            case .providerNotLinked:
                Self(404, .providerNotLinked, "This provider is not linked to the account")
            case .identityNotNamed(let identities):
                Self(
                    400, .invalidRequest,
                    "The account has several identities of this provider: name one with identity_id",
                    details: [
                        "parameter": "identity_id",
                        "identity_ids": .texts(identities.map(\.description)),
                    ])
            case .onlyProvider:
                Self(
                    400, .cannotUnlinkOnlyProvider,
                    "Cannot unlink your only authentication method")
            case .reauthenticationRequired:
                Self(
                    403, .reauthenticationRequired,
                    "This requires a recent sign-in: sign in again first")
            case .invalidRefreshToken:
                Self(401, .invalidRefreshToken, "The refresh token is invalid or expired")
                    .challenge(Challenge.plain)
            case .idempotencyKeyReused:
                Self(
                    422, .idempotencyKeyReused,
                    "The idempotency key was already used for another request")
            case .providerUnavailable:
                Self(503, .unavailable, "The provider cannot be reached")
                    .retry(after: RetryAfter.providerUnavailable)
            case .factorRefused(let obstacle):
                Self(
                    409, .factorRefused, "The account cannot get this factor",
                    details: ["reason": .text(obstacle.rawValue)])
            case .unknownFactor: Self(404, .factorNotFound, "The account has no such factor")
            case .secondFactorEnrolled:
                Self(
                    409, .secondFactorEnrolled,
                    "An account with a second factor is merged by its holder, who is signed in to it, or by two persons"
                )
            case .unknownAccount: Self(404, .accountNotFound, "There is no such account")
            case .accountDisabled: Self(403, .accountDisabled, "The account is disabled")
            case .addressUnused:
                Self(
                    403, .addressUnused,
                    "The number has not been used for a long time: sign in another way, then confirm it again"
                )
            case .accountErased: Self(410, .accountErased, "The account has been erased")
            case .erasurePlanChanged:
                Self(
                    409, .erasurePlanChanged,
                    "The erasure plan has changed: request a new preview")
            case .secondAdministratorRequired:
                Self(
                    403, .secondAdministratorRequired,
                    "Another administrator than the one that asked for the erasure has to confirm it"
                )
            case .secondPersonRequired:
                Self(
                    403, .secondPersonRequired,
                    "Another person than the one that asked for it has to confirm it")
            case .erasureRequested:
                Self(
                    409, .erasureRequested,
                    "Another administrator has asked for the erasure: confirm that request")
            case .unknownErasureRequest:
                Self(
                    404, .erasureRequestNotFound,
                    "There is no such request: it was withdrawn, has expired or became void")
            case .legalHold: Self(409, .legalHold, "The account is under a legal hold")
            case .tooManyHolds:
                Self(409, .tooManyHolds, "The account has the maximum number of legal holds")
            case .unknownHold: Self(404, .holdNotFound, "The account has no such legal hold")
            case .accountMerged(let survivor):
                Self(
                    409, .accountMerged, "This account was merged into another one",
                    details: ["merged_into": .text(survivor.description)])
            case .sameAccount: Self(409, .sameAccount, "Both are already the same account")
            case .nothingToChoose(let provider):
                Self(
                    400, .invalidRequest,
                    "keep names a provider that needs no choice: leave it out",
                    details: ["field": "keep", "provider": .text(provider.description)])
            case .tooMuchToMerge:
                Self(409, .mergeTooLarge, "The accounts are too large for one merge")
            case .mergePlanChanged:
                Self(409, .mergePlanChanged, "The plan has changed: request a new one")
            case .mergeSuperseded(let obstacle):
                Self(
                    409, .mergeSuperseded, "The merge can no longer be undone",
                    details: ["reason": .text(obstacle.rawValue)])
            case .unknownMerge: Self(404, .mergeNotFound, "There is no merge with this id")
            case .relinkRefused(let obstacle):
                Self(
                    409, .relinkRefused, "The identity cannot be linked again",
                    details: ["reason": .text(obstacle.rawValue)])
            // Only an operator's program sets rules.
            case .providerPinned, .accountsLockedOut, .rulesTooLong: .internalError
            // Its route answers with the factors.
            case .secondFactorRequired: .internalError
            }
    }

    private init(_ refusal: PasswordRefusal) {
        var details: [String: ErrorDetail] = ["field": "password"]
        let message: String
        switch refusal {
        case .empty, .tooShort(min: 0): message = "The password is empty"
        case .tooManyBytes: message = "The password is too long"
        case .disallowedCharacter: message = "The password has a character that is not allowed"
        case .tooShort(let min):
            message = "The password must have at least \(min) characters"
            details["length_min"] = .text(String(min))
        case .blocklisted: message = "The password is too common"
        }
        self = Self(400, .weakPassword, message, details: details)
    }

    private init(_ refusal: ProofRefusal) {
        self =
            switch refusal {
            case .nothingSigned: Self(404, .notSealedYet, "No checkpoint has been signed yet")
            case .sizeNotSigned(let size):
                Self(
                    404, .sizeNotSigned, "No checkpoint of this size was signed",
                    details: ["size": .text(String(size))])
            case .notCovered(let position, let size):
                Self(
                    404, .notSealedYet, "No signed checkpoint covers this position yet",
                    details: ["position": .text(position.description), "size": .text(String(size))])
            case .oldSizeAboveSize:
                Self(
                    400, .invalidRequest, "old must not be greater than size",
                    details: ["parameter": "old"])
            }
    }

    private init(_ fault: LedgerFault) {
        self =
            switch fault {
            case .overloaded:
                Self(503, .unavailable, "Too many requests are waiting")
                    .retry(after: RetryAfter.overloaded)
            case .unavailable:
                Self(503, .unavailable, "The service is temporarily unavailable")
                    .retry(after: RetryAfter.unavailable)
            case .rulesDiffer:
                Self(
                    503, .rulesDiffer,
                    "This server's configuration differs from the tenant's rules"
                ).retry(after: RetryAfter.rulesDiffer)
            case .tenantMoved:
                Self(503, .tenantMoved, "The tenant is being moved, or is served elsewhere")
                    .retry(after: RetryAfter.tenantMoved)
            case .internalFailure: .internalError
            }
    }

    init(_ rejection: HTTPRejection) {
        self =
            switch rejection {
            case .bodyTooLarge: Self(413, .payloadTooLarge, "The body is too large")
            case .lengthRequired:
                Self(
                    411, .lengthRequired,
                    "A body requires Content-Length; Transfer-Encoding is not supported")
            case .malformed: Self(400, .invalidRequest, "The request is malformed")
            case .overloaded: Self(LedgerFault.overloaded)
            case .internalFailure: .internalError
            case .headersTooLarge: Self(431, .invalidRequest, "The header section is too large")
            case .expectationUnknown:
                Self(417, .invalidRequest, "100-continue is the only supported expectation")
            }
    }

    private static var accessTokenInvalid: ErrorAnswer {
        Self(401, .invalidAccessToken, "The access token is invalid or expired")
            .challenge(Challenge.invalidToken)
    }

    private static var internalError: ErrorAnswer {
        Self(500, .internalError, "Something went wrong")
    }
}

extension RequestFlaw {
    fileprivate var details: [String: ErrorDetail]? {
        switch location {
        case .field(let name): ["field": .text(name)]
        case .parameter(let name): ["parameter": .text(name)]
        case .header(let name): ["header": .text(name)]
        case nil: nil
        }
    }
}
