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
        return try await call.listedFactors(of: caller)
    }
}

/// `POST /v1/account/factor-enrolments`: makes a secret for an authenticator app, or sends a code to a phone.
struct BeginEnrolmentRoute: Route {
    private enum Begun {
        case app(SecondFactors.Enrolment)
        case phone(String, ProviderName)
    }

    static let method = "POST"
    static let path = "/v1/account/factor-enrolments"
    static let operation = Operation(
        id: "begin_factor", tag: .account,
        summary: "Make a secret for an authenticator app, or send a code to a phone",
        about: "Nothing is enrolled until the first code confirms it.", access: .accountHolder,
        parameters: [IdempotencyHeader.refused, LanguageHeader.parameter],
        body: BeginEnrolmentBody.self, answers: .json(EnrolmentAnswer.schema),
        refusals: [
            .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
            IdempotencyHeader.refusal,
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, begun, language) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, Begun, String?) in
            try IdempotencyHeader.refuse(call)
            let begun = try begin(call, by: caller)
            return (caller, begun, try LanguageHeader.read(call))
        }
        let identities = try await call.identities(of: caller)
        switch begun {
        case .app(let enrolment):
            return .json(
                EnrolmentAnswer(
                    enrolmentToken: enrolment.token, secret: enrolment.secret, uri: enrolment.uri,
                    expiresIn: SecondFactorTokens.enrolmentSeconds))
        case .phone(let number, let provider):
            let challenge: ChallengeID
            do throws(CodeFailure) {
                challenge = try await call.services.secondFactors.sendEnrolment(
                    to: number, of: provider, by: caller,
                    isEstablished: identities.contains { call.isEstablished($0) },
                    in: call.tenant, from: call.clientNetwork, language: language, at: call.now)
            } catch {
                throw call.error(error, or: .invalidCode)
            }
            return .json(
                EnrolmentAnswer(
                    challengeID: challenge.description,
                    expiresIn: StoredChallenge.lifetimeSeconds))
        }
    }

    private func begin(_ call: RouteCall, by caller: Caller) throws(APIError) -> Begun {
        let body = try call.body()
        let issuer = try body.text(BeginEnrolmentBody.issuer) ?? call.tenant.description
        let name = try body.text(BeginEnrolmentBody.accountName) ?? caller.account.description
        let typed = try body.text(BeginEnrolmentBody.phone)
        switch FactorKind(rawValue: try body.text(BeginEnrolmentBody.type)) {
        case .totp:
            let enrolment = call.services.secondFactors.beginEnrolment(
                by: caller, in: call.tenant, issuer: issuer, name: name, at: call.now)
            guard let enrolment else {
                throw .invalidRequest(
                    RequestFlaw("issuer and account_name must not be empty or have a colon"))
            }
            return .app(enrolment)
        case .phone:
            guard let typed else { throw .isRequired(BeginEnrolmentBody.phone.name) }
            guard let provider = call.phoneProvider else { throw .refused(.unsupportedProvider) }
            guard let number = CodeSettings.number(typed),
                provider.settings.mayReceive(number, under: call.configuration.messages)
            else {
                throw .invalidRequest(
                    RequestFlaw(
                        "phone is not a number that messages can be sent to",
                        at: .field(BeginEnrolmentBody.phone.name)))
            }
            return .phone(number, provider.name)
        case .passkey, .recoveryCodes, nil:
            throw .invalidRequest(
                RequestFlaw("type must be totp or phone", at: .field(BeginEnrolmentBody.type.name)))
        }
    }
}

extension RouteCall {
    /// Whether an identity of some age has a proof that costs more than a request.
    ///
    /// An anonymous account and a passkey cost nothing, and an address that is only claimed is anybody's.
    fileprivate func isEstablished(_ identity: LinkedIdentity) -> Bool {
        guard identity.linkedAt <= now.adding(seconds: -AddressCodes.establishedSeconds) else {
            return false
        }
        return switch configuration.policy.providers[identity.provider]?.type {
        case .oidc, .oauth2, .phone: true
        case .email, .password: identity.email?.isVerified == true
        case .anonymous, .passkey, nil: false
        }
    }
}

/// `POST /v1/account/factors`: enrols a second factor with its first code.
struct EnrolFactorRoute: Route {
    private typealias Confirmed = (
        factor: NewFactor, token: SingleUseIDToken?, challenge: ChallengeID?
    )

    /// The first use of the factor.
    private enum Given {
        case app(String, code: String)
        case passkey(SecondFactors.PasskeyUse)
        case phone(CodeBody)
    }

    static let method = "POST"
    static let path = "/v1/account/factors"
    static let operation = Operation(
        id: "enrol_factor", tag: .account, summary: "Enrol a second factor with its first use",
        about:
            "Requires a recent sign-in; with a factor already, one with it. The first factor"
            + " ends all sessions and opens a new one, and brings ten recovery codes with it.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused],
        body: EnrolFactorBody.self, answers: .json(EnrolledAnswer.schema),
        refusals: [APIError].ofFactorChange + [
            .refused(.invalidCode), .refused(.factorRefused(.anonymous)),
            .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, given) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, Given) in
            try IdempotencyHeader.refuse(call)
            return (caller, try read(call))
        }
        _ = try await call.identities(of: caller)
        let confirmed: Confirmed
        do throws(CodeFailure) {
            confirmed = try await confirm(given, call, by: caller)
        } catch {
            throw call.error(error, or: .invalidCode)
        }
        let (enrolled, codes, session) = try await call.enrol(
            confirmed.factor, confirmedBy: confirmed.token, confirmed.challenge, for: caller)
        let isOfPage = call.page != nil
        return .json(
            EnrolledAnswer(
                factorID: confirmed.factor.id.description,
                recoveryCodes: enrolled.isFirst ? codes : nil, session: isOfPage ? nil : session),
            headers: isOfPage ? enrolled.grant.map { [call.pageCookie(of: $0)] } ?? [] : [])
    }

    private func read(_ call: RouteCall) throws(APIError) -> Given {
        let body = try call.body()
        let code = try body.text(OptionalText.factorCode)
        let token = try body.text(EnrolFactorBody.enrolmentToken)
        let challenge = try body.text(OptionalText.challengeID)
        if let use = try call.passkeyUse(body) { return .passkey(use) }
        guard let code, !code.isEmpty else { throw .isRequired(OptionalText.factorCode.name) }
        if let token { return .app(token, code: code) }
        guard let challenge else { throw .isRequired(EnrolFactorBody.enrolmentToken.name) }
        return .phone(CodeBody(challenge: challenge, code: code))
    }

    private func confirm(
        _ given: Given, _ call: RouteCall, by caller: Caller
    ) async throws(CodeFailure) -> Confirmed {
        let factors = call.services.secondFactors
        let id: FactorID = call.services.newID()
        switch given {
        case .app(let token, let code):
            let confirmed = try factors.confirm(
                token, code: code, as: id, by: caller, in: call.tenant, at: call.now)
            return (confirmed.factor, confirmed.token, nil)
        case .passkey(let use):
            let confirmed = try await factors.confirm(
                use, as: id, by: caller, in: call.tenant, at: call.now)
            return (confirmed.factor, confirmed.token, nil)
        case .phone(let code):
            guard let provider = call.phoneProvider else { throw .wrong }
            let confirmed = try await factors.confirm(
                code, as: id, of: provider.name, by: caller, in: call.tenant,
                from: call.clientNetwork, at: call.now)
            return (confirmed.factor, nil, confirmed.challenge)
        }
    }
}

/// `POST /v1/account/recovery-codes`: replaces the recovery codes of the caller's account.
struct RecoveryCodesRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/recovery-codes"
    static let operation = Operation(
        id: "renew_recovery_codes", tag: .account, summary: "Replace the recovery codes",
        about: "Requires a recent sign-in with a second factor. The former codes end.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused], body: EmptyBody.self,
        answers: .json(RecoveryCodesAnswer.schema),
        refusals: [APIError].ofFactorChange + [.refused(.factorRefused(.noFactor))])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let caller = try await call.byAccountHolder { caller throws(APIError) in
            try IdempotencyHeader.refuse(call)
            _ = try call.body()
            return caller
        }
        let (_, codes, _) = try await call.enrol(nil, confirmedBy: nil, nil, for: caller)
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
            "Requires a recent sign-in with a second factor. The recovery codes go with the last factor.",
        access: .accountHolder, answers: .json(FactorsAnswer.schema),
        refusals: [
            .refused(.unknownFactor), .refused(.reauthenticationRequired),
            .refused(.factorRefused(.sameKind)), .faulted(.rulesDiffer),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, factor) = try await call.byAccountHolder {
            caller throws(APIError) in (caller, try call.factor())
        }
        try await call.submit(RemoveFactor(factor, by: .accountHolder(caller)))
        return try await call.listedFactors(of: caller)
    }
}

/// `POST /v1/account/factors/{factor_id}/keep`: stops the removal that support planned.
struct KeepFactorRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/factors/{factor_id}/keep"
    static let operation = Operation(
        id: "keep_factor", tag: .account, summary: "Stop the planned removal of a second factor",
        about: "A sign-in with the factor stops it, too.", access: .accountHolder,
        body: EmptyBody.self, answers: .json(FactorsAnswer.schema),
        refusals: [.refused(.unknownFactor)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, factor) = try await call.byAccountHolder { caller throws(APIError) in
            _ = try call.body()
            return (caller, try call.factor())
        }
        try await call.submit(RemoveFactor(factor, by: .keptByHolder(caller)))
        return try await call.listedFactors(of: caller)
    }
}

private enum BeginEnrolmentBody: BodyForm {
    static let name = "FactorRequest"
    static let type = RequiredText(
        name: "type", bytesMax: RequestBody.challengeBytesMax,
        about: "The kind of the factor: `totp` or `phone`", example: FactorKind.totp.rawValue)
    static let issuer = OptionalText(
        name: "issuer", bytesMax: SecondFactors.nameBytesMax,
        about: "The name of the service in the app; the tenant by default", example: "Example")
    static let accountName = OptionalText(
        name: "account_name", bytesMax: SecondFactors.nameBytesMax,
        about: "The name of the account in the app; the user id by default",
        example: "ada@example.com")
    static let phone = OptionalText(
        name: "phone", bytesMax: CodeSettings.typedBytesMax,
        about: "The phone number with a plus sign and its country code; required for `phone`",
        example: "+4915123456789")
    static let members: [any BodyMember] = [type, issuer, accountName, phone]
}

private enum EnrolFactorBody: BodyForm {
    static let name = "FactorConfirmation"
    static let enrolmentToken = OptionalText(
        name: "enrolment_token", bytesMax: SecondFactorTokens.bytesMax,
        about: "The `enrolment_token` of the secret; required for an authenticator app",
        example: ExampleValue.enrolmentToken, isInExample: true)
    static let members: [any BodyMember] = [
        enrolmentToken, OptionalText.challengeID, OptionalText.factorCode,
        OptionalObject.factorCredential,
    ]
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

extension ShownFactor {
    /// The factor as its holder sees it.
    var answer: FactorAnswer {
        FactorAnswer(
            factorID: factor.id.description, type: factor.kind.rawValue, hint: hint,
            enrolledAt: factor.id.madeAt.description, codesLeft: factor.codesLeft,
            removalDue: factor.removalDue?.description)
    }
}

extension RouteCall {
    /// Returns the factor that the path names.
    ///
    /// - Throws: 404 when the id is malformed.
    func factor() throws(APIError) -> FactorID {
        guard let factor = captures["factor_id"].flatMap({ FactorID($0) }) else {
            throw .refused(.unknownFactor)
        }
        return factor
    }

    /// Answers with the factors of a caller who is known to have a live session.
    fileprivate func listedFactors(of caller: Caller) async throws(APIError) -> HTTPResponse {
        .json(
            FactorsAnswer(
                factors: try await factors(of: caller.account).map(\.answer)))
    }

    /// Enrols a factor; with nil, replaces the recovery codes.
    fileprivate func enrol(
        _ factor: NewFactor?, confirmedBy enrolment: SingleUseIDToken?,
        _ challenge: ChallengeID?, for caller: Caller
    ) async throws(APIError) -> (EnrolFactor.Success, codes: [String], SessionAnswer?) {
        let made = services.secondFactors.recoveryCodes(as: services.newID())
        let session: SessionID = services.newID()
        let token = services.refreshTokens.issue(for: session, in: tenant)
        guard let digest = RefreshTokens.digest(token) else { throw .faulted(.internalFailure) }
        let enrolled = try await submit(
            EnrolFactor(
                caller: caller, factor: factor ?? made.factor, recoveryCodes: made.factor,
                token: enrolment, challenge: challenge, refreshToken: digest, newSession: session))
        var answer: SessionAnswer?
        if let grant = enrolled.grant {
            answer = await sessionAnswer(grant, refreshToken: token, isNewUser: false)
        }
        return (enrolled, made.codes, answer)
    }
}
