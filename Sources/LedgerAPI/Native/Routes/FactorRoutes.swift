internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `GET /v1/account/factors`: the second factors of the caller's account.
struct FactorsRoute: Route {
    static let method = "GET"
    static let path = "/v1/account/factors"
    static let operation = Operation(
        id: "list_factors", tag: .account, summary: "The second factors of the caller's account",
        access: .accountHolder, answers: .json(FactorsAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let caller = try call.caller()
        _ = try await call.identities(of: caller)
        let factors = try await call.factors(of: caller.account)
        return .json(
            FactorsAnswer(
                factors: factors.map { factor in
                    FactorAnswer(
                        factorID: factor.id.description, type: factor.kind.rawValue,
                        enrolledAt: factor.id.madeAt.description, codesLeft: factor.codesLeft)
                }))
    }
}

/// `POST /v1/account/factors`: makes a secret for an authenticator app.
struct BeginEnrolmentRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/factors"
    static let operation = Operation(
        id: "begin_factor", tag: .account, summary: "Make a secret for an authenticator app",
        about: "Nothing is stored until the first code confirms it.", access: .accountHolder,
        parameters: [IdempotencyHeader.refused], body: BeginEnrolmentBody.self,
        answers: .json(EnrolmentAnswer.schema), refusals: [IdempotencyHeader.refusal])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, enrolment) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, SecondFactors.Enrolment) in
            try IdempotencyHeader.refuse(call)
            let body = try call.body()
            guard try body.text(BeginEnrolmentBody.type) == FactorKind.totp.rawValue else {
                throw .invalidRequest(
                    RequestFlaw("type must be totp", at: .field(BeginEnrolmentBody.type.name)))
            }
            let issuer = try body.text(BeginEnrolmentBody.issuer) ?? call.tenant.description
            let name =
                try body.text(BeginEnrolmentBody.accountName) ?? caller.account.description
            let enrolment = call.services.secondFactors.beginEnrolment(
                as: call.services.newID(), by: caller, in: call.tenant, issuer: issuer, name: name,
                at: call.now)
            guard let enrolment else {
                throw .invalidRequest(
                    RequestFlaw("issuer and account_name must not be empty or have a colon"))
            }
            return (caller, enrolment)
        }
        _ = try await call.identities(of: caller)
        return .json(
            EnrolmentAnswer(
                enrolmentToken: enrolment.token, secret: enrolment.secret, uri: enrolment.uri,
                expiresIn: SecondFactorTokens.enrolmentSeconds))
    }
}

/// `POST /v1/account/factors/confirm`: enrols an authenticator app with its first code.
struct ConfirmFactorRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/factors/confirm"
    static let operation = Operation(
        id: "confirm_factor", tag: .account, summary: "Enrol an authenticator app",
        about:
            "Within ten minutes after a sign-in; with a factor already, after one with it. The first factor"
            + " ends all sessions and opens a new one, and brings ten recovery codes with it.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused],
        body: ConfirmFactorBody.self, answers: .json(EnrolledAnswer.schema),
        refusals: [APIError].ofFactorChange + [
            .refused(.invalidCode), .refused(.factorRefused(.anonymous)),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let services = call.services
        let (caller, confirmed) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, (factor: NewFactor, token: SingleUseIDToken)) in
            try IdempotencyHeader.refuse(call)
            let body = try call.body()
            let token = try body.text(ConfirmFactorBody.enrolmentToken)
            let code = try body.text(ConfirmFactorBody.code)
            do throws(CodeFailure) {
                return (
                    caller,
                    try services.secondFactors.confirm(
                        token, code: code, by: caller, in: call.tenant, at: call.now)
                )
            } catch {
                throw call.error(error, or: .invalidCode)
            }
        }
        let (enrolled, codes, session) = try await call.enrol(
            confirmed.factor, confirmedBy: confirmed.token, for: caller)
        return .json(
            EnrolledAnswer(
                factorID: confirmed.factor.id.description,
                recoveryCodes: enrolled.isFirst ? codes : nil, session: session))
    }
}

/// `POST /v1/account/recovery-codes`: replaces the recovery codes of the caller's account.
struct RecoveryCodesRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/recovery-codes"
    static let operation = Operation(
        id: "renew_recovery_codes", tag: .account, summary: "Replace the recovery codes",
        about: "Within ten minutes after a sign-in with a second factor. The former codes end.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused], body: EmptyBody.self,
        answers: .json(RecoveryCodesAnswer.schema),
        refusals: [APIError].ofFactorChange + [.refused(.factorRefused(.noFactor))])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let caller = try await call.byAccountHolder { caller throws(APIError) in
            try IdempotencyHeader.refuse(call)
            _ = try call.body()
            return caller
        }
        let (_, codes, _) = try await call.enrol(nil, confirmedBy: nil, for: caller)
        return .json(RecoveryCodesAnswer(recoveryCodes: codes))
    }
}

/// `DELETE /v1/account/factors/{factor_id}`: removes a second factor or the recovery codes.
struct RemoveFactorRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/account/factors/{factor_id}"
    static let operation = Operation(
        id: "remove_factor", tag: .account, summary: "Remove a second factor",
        about:
            "Within ten minutes after a sign-in with a second factor. The recovery codes go with the last"
            + " factor.",
        access: .accountHolder, answers: .json(FactorsAnswer.schema),
        refusals: [
            .refused(.unknownFactor), .refused(.reauthenticationRequired), .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, factor) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, FactorID) in
            guard let factor = call.captures["factor_id"].flatMap({ FactorID($0) }) else {
                throw .refused(.unknownFactor)
            }
            return (caller, factor)
        }
        try await call.submit(RemoveFactor(caller: caller, factor: factor))
        return try await FactorsRoute().answer(call)
    }
}

private enum BeginEnrolmentBody: BodyForm {
    static let name = "FactorRequest"
    static let type = RequiredText(
        name: "type", bytesMax: RequestBody.challengeBytesMax,
        about: "The kind of the factor: `totp`", example: FactorKind.totp.rawValue)
    static let issuer = OptionalText(
        name: "issuer", bytesMax: SecondFactors.nameBytesMax,
        about: "The name of the service in the app; the tenant by default", example: "Example")
    static let accountName = OptionalText(
        name: "account_name", bytesMax: SecondFactors.nameBytesMax,
        about: "The name of the account in the app; the user id by default",
        example: "ada@example.com")
    static let members: [any BodyMember] = [type, issuer, accountName]
}

private enum ConfirmFactorBody: BodyForm {
    static let name = "FactorConfirmation"
    static let enrolmentToken = RequiredText(
        name: "enrolment_token", bytesMax: SecondFactorTokens.bytesMax,
        about: "The `enrolment_token` of the secret", example: ExampleValue.enrolmentToken)
    static let code = RequiredText.factorCode
    static let members: [any BodyMember] = [enrolmentToken, code]
}

extension [APIError] {
    fileprivate static let ofFactorChange: [APIError] = [
        .refused(.reauthenticationRequired), .faulted(.rulesDiffer), IdempotencyHeader.refusal,
    ]
}

extension HeldFactor {
    /// The number of unused recovery codes; nil for any other kind.
    fileprivate var codesLeft: Int? {
        kind == .recoveryCodes ? SecondFactors.recoveryCodeCount - usedCodes.nonzeroBitCount : nil
    }
}

extension RouteCall {
    /// Enrols a factor, or new recovery codes when there is none.
    fileprivate func enrol(
        _ factor: NewFactor?, confirmedBy enrolment: SingleUseIDToken?, for caller: Caller
    ) async throws(APIError) -> (EnrolFactor.Success, codes: [String], SessionAnswer?) {
        let made = services.secondFactors.recoveryCodes(as: services.newID())
        let session: SessionID = services.newID()
        let token = services.refreshTokens.issue(for: session, in: tenant)
        guard let digest = RefreshTokens.digest(token) else { throw .faulted(.internalFailure) }
        let enrolled = try await submit(
            EnrolFactor(
                caller: caller, factor: factor ?? made.factor, recoveryCodes: made.factor,
                token: enrolment, refreshToken: digest, newSession: session))
        return (
            enrolled, made.codes,
            enrolled.grant.map { sessionAnswer($0, refreshToken: token, isNewUser: false) }
        )
    }
}
