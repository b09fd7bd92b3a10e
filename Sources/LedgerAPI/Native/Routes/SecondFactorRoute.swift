internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `POST /v1/auth/second-factor`: finishes a sign-in with a second factor.
struct SecondFactorRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/second-factor"
    static let operation = Operation(
        id: "finish_sign_in", tag: .signIn, summary: "Finish a sign-in with a second factor",
        about:
            "With the `sign_in_token` of a refused sign-in, within five minutes. A code works once.",
        access: .anyone, parameters: [IdempotencyHeader.refused], body: SecondFactorBody.self,
        answers: .json(SessionAnswer.schema),
        refusals: [
            .refused(.invalidCode), .refused(.invalidProviderToken), .refused(.invalidPassword),
            .refused(.unsupportedProvider), .refused(.accountNotFound),
            .refused(.accountDisabled), .refused(.rateLimited(retryAfterSeconds: 60)),
            .faulted(.rulesDiffer), IdempotencyHeader.refusal,
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try IdempotencyHeader.refuse(call)
        let body = try call.body()
        let token = try body.text(SecondFactorBody.signInToken)
        let factor = try body.text(SecondFactorBody.factorID)
        let given = try body.text(OptionalText.factorCode)
        let code = CodeBody(
            challenge: try body.text(OptionalText.challengeID) ?? "", code: given ?? "",
            deviceToken: try body.deviceToken())
        let passkey = try call.passkeyUse(body)
        guard passkey != nil || given?.isEmpty == false else {
            throw .isRequired(OptionalText.factorCode.name)
        }
        let factors = call.services.secondFactors
        let first: SecondFactorTokens.FirstStep
        let use: FactorUse?
        do throws(CodeFailure) {
            first = try factors.firstStep(token, in: call.tenant, at: call.now)
            use = try await factors.check(
                code, passkey, of: factor, call.phoneProvider?.name, after: first, in: call.tenant,
                from: call.clientNetwork, at: call.now)
        } catch {
            throw call.error(error, or: .invalidCode)
        }
        return try await call.opened(
            by: first.proof,
            secondFactor: SecondFactorProof(token: first.token, account: first.account, use: use),
            createAccount: false, knownAs: code.deviceToken)
    }
}

/// `POST /v1/auth/second-factor/code`: sends the code of a phone that is a second factor.
struct SecondFactorCodeRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/second-factor/code"
    static let operation = Operation(
        id: "send_second_factor_code", tag: .signIn,
        summary: "Send the code of a phone that is a second factor",
        about: "The code finishes the sign-in of this `sign_in_token` alone.", access: .anyone,
        parameters: [LanguageHeader.parameter], body: SecondFactorCodeBody.self,
        answers: .json(CodeAnswer.schema),
        refusals: [
            .refused(.unsupportedProvider), .refused(.invalidCode),
            .refused(.rateLimited(retryAfterSeconds: 60)),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let token = try body.text(SecondFactorBody.signInToken)
        let factor = try body.text(SecondFactorBody.factorID)
        let device = try body.deviceToken()
        let language = try LanguageHeader.read(call)
        guard let provider = call.phoneProvider else { throw .refused(.unsupportedProvider) }
        let factors = call.services.secondFactors
        return try await call.sent { () async throws(CodeFailure) in
            let first = try factors.firstStep(token, in: call.tenant, at: call.now)
            return try await factors.sendCode(
                of: factor, after: first, of: provider.name, in: call.tenant,
                from: call.clientNetwork, knownAs: device, language: language, at: call.now)
        }
    }
}

enum SecondFactorBody: BodyForm {
    static let name = "SecondFactorRequest"
    static let signInToken = RequiredText(
        name: "sign_in_token", bytesMax: SecondFactorTokens.bytesMax,
        about: "The `sign_in_token` of the refused sign-in", example: ExampleValue.signInToken)
    static let factorID = RequiredText(
        name: "factor_id", bytesMax: RequestBody.challengeBytesMax,
        about: "One of the `factors` of the refused sign-in", example: ExampleValue.factor)
    static let members: [any BodyMember] = [
        signInToken, factorID, OptionalText.factorCode, OptionalText.challengeID,
        OptionalText.deviceToken, OptionalObject.factorCredential,
    ]
}

private enum SecondFactorCodeBody: BodyForm {
    static let name = "SecondFactorCodeRequest"
    static let members: [any BodyMember] = [
        SecondFactorBody.signInToken, SecondFactorBody.factorID, OptionalText.deviceToken,
    ]
}

extension OptionalText {
    static let factorCode = OptionalText(
        name: "code", bytesMax: SecondFactors.codeBytesMax,
        about:
            "The code of the authenticator app or the phone, or a recovery code; required without `credential`",
        example: ExampleValue.factorCode, isInExample: true)
}

extension OptionalObject {
    static let factorCredential = OptionalObject(
        name: "credential",
        about: "The browser's response (`toJSON()`), with its `challenge_id`; for a passkey")
}

extension RouteCall {
    /// Opens a session for a proof, and answers with its tokens.
    ///
    /// - Parameters:
    ///   - proof: The proof.
    ///   - secondFactor: The second step; nil in the first one.
    ///   - createAccount: Whether an account is opened for an identity without one.
    ///   - device: The token by which the client's device is known.
    ///   - newSecret: The secret of an anonymous account to be opened.
    ///   - confirmation: The address that the account claims, for the code that confirms it.
    /// - Returns: The answer.
    /// - Throws: 403 with a sign-in token when the account needs a second factor; the refusals of a sign-in.
    func opened(
        by proof: Proof, secondFactor: SecondFactorProof? = nil, createAccount: Bool,
        knownAs device: String?, newSecret: String? = nil,
        confirmedBy confirmation: Confirmation? = nil
    ) async throws(APIError) -> HTTPResponse {
        let session: SessionID = services.newID()
        let token = services.refreshTokens.issue(for: session, in: tenant)
        guard let digest = RefreshTokens.digest(token) else { throw .faulted(.internalFailure) }
        let opened: SignIn.Success
        do throws(APIError) {
            opened = try await submit(
                SignIn(
                    proof, secondFactor: secondFactor,
                    isNewDevice: await isNewDevice(device, of: proof, secondFactor?.account),
                    createAccount: createAccount, refreshToken: digest,
                    newAccount: services.newID(), newIdentity: services.newID(), newSession: session
                ))
        } catch .refused(.secondFactorRequired(let account)) {
            throw .secondFactorRequired(
                token: services.secondFactors.signInToken(
                    for: proof, of: account, in: tenant, at: now),
                try await factors(of: account).filter { $0.factor.kind.mayFollow(proof.methods) })
        }
        if !isBeside { await endReplacedSession() }
        return await self.session(
            opened.grant, refreshToken: token, isNewUser: opened.isNewUser,
            anonymousSecret: newSecret,
            deviceToken: await services.codes.deviceToken(
                for: [proof.knownAddress].compactMap(\.self), secondFactor?.account,
                presented: device, openedAt: opened.grant.openedAt, in: tenant, at: now),
            challenge: await challenge(of: confirmation), isBeside: isBeside,
            status: confirmation == nil ? 200 : 201)
    }

    /// Sends the code that confirms a claimed address.
    ///
    /// - Returns: nil when it can't be sent now; another request can. Also nil for an address that is proved already.
    func challenge(
        of claim: Confirmation?, repeatedBy key: IdempotencyKey? = nil
    ) async -> ChallengeID? {
        guard let claim else { return nil }
        return try? await services.passwords.confirm(
            claim.address, claim.password, hash: claim.hash, of: claim.provider, in: tenant,
            as: key.map(\.challenge), from: clientNetwork, language: claim.language, at: now)
    }

    /// Ends the session that the cookie of a page had until now: a copy of that cookie must not outlive a later sign-out,
    /// which ends the new session alone.
    private func endReplacedSession() async {
        guard let replaced = page?.caller else { return }
        // A session that has ended is refused, and a fault leaves what the copy could do before.
        try? await submit(SignOut(caller: replaced, scope: .session))
    }

    /// Whether an account holder is told of the sign-in: one that gives a device a token, from a device without one for
    /// the address or the account.
    private func isNewDevice(
        _ token: String?, of proof: Proof, _ account: AccountID?
    ) async -> Bool {
        let address = proof.knownAddress
        guard address != nil || account != nil,
            configuration(of: proof.subject.provider)?.noticesNewDevices == true
        else { return false }
        return !(await services.codes.isKnown(token, to: address, account, in: tenant, at: now))
    }

    /// The provider of the tenant's codes by SMS, which also sends those of second factors.
    var phoneProvider: (name: ProviderName, settings: CodeSettings)? {
        for provider in configuration.providers.values {
            if case .code(let settings) = provider.settings, settings.kind == .phone {
                return (provider.name, settings)
            }
        }
        return nil
    }

    /// Returns the second factors of an account and its recovery codes.
    func factors(of account: AccountID) async throws(APIError) -> [ShownFactor] {
        do { return try await services.secondFactors.factors(of: account, in: tenant) } catch {
            throw .faulted(error)
        }
    }
}

extension Proof {
    /// The address to which the device is known from now on.
    ///
    /// Not one that is only claimed: strangers could collect tokens, and guess codes.
    fileprivate var knownAddress: ProvedAddress? { email?.isVerified == false ? nil : address }
}

extension IdempotencyKey {
    /// The id of the challenge that the request opens, however often it is repeated; keyed, as the digest is.
    fileprivate var challenge: ChallengeID {
        ChallengeID(bits: scope.digest.bytes.prefix(16).reduce(0) { $0 << 8 | UInt128($1) })
    }
}
