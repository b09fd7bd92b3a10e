internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire
internal import Passwords

/// `POST /v1/auth/sign-up/{password_provider}`: sends the code that finishes a sign-up with a password.
struct SignUpRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-up/{password_provider}"
    static let operation = Operation(
        id: "sign_up_with_password", tag: .signIn,
        summary: "Send the code that finishes a sign-up with a password",
        about:
            "The code opens the account by a sign-in. If an account has the address, its holder is told"
            + " instead; the answer is the same. In a tenant with `confirm_later` an address that no account"
            + " has opens the account at once, and the code confirms the address by a sign-in.",
        access: .anyone, parameters: [LanguageHeader.parameter], body: SignUpBody.self,
        answers: .json(CodeAnswer.schema),
        refusals: [
            .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
            .weakPassword(.blocklisted), .faulted(.rulesDiffer),
        ], otherAnswers: [201: SessionAnswer.schema])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (settings, address) = try call.passwordAddress()
        let password = try call.newPassword()
        let prepared = try call.prepared(password, under: settings)
        let provider = try call.passwordProvider()
        let language = try LanguageHeader.read(call)
        try await call.countClaim()
        let confirmation = Confirmation(
            provider: provider, address: address, password: password,
            hash: try await call.hashed(prepared), language: language)
        if call.configuration.policy.confirmLater,
            let opened = try await call.opened(byClaim: confirmation)
        {
            return opened
        }
        return try await call.sent { () async throws(CodeFailure) in
            try await call.send(confirmation)
        }
    }
}

/// An address with the password that it has or gets, to be confirmed by a code.
struct Confirmation {
    let provider: ProviderName
    /// The canonical form.
    let address: String
    let password: Password
    let hash: NewPassword
    let language: String?
}

extension RouteCall {
    /// Opens an account that has claimed the address, and sends the code that confirms it.
    ///
    /// - Returns: nil when an account has the address, or has claimed it.
    fileprivate func opened(
        byClaim claim: Confirmation
    ) async throws(APIError) -> HTTPResponse? {
        guard let provider = configuration(of: claim.provider) else {
            throw .refused(.unsupportedProvider)
        }
        let proof: Proof
        do {
            proof = try await provider.prove(
                .password(.claim(address: claim.address, claim.hash)), in: tenant,
                for: .signIn(tenant, singleUse: nil), by: codeClient(nil), at: now)
        } catch {
            throw .refused(error.refusal)
        }
        do throws(APIError) {
            return try await opened(
                by: proof, createAccount: true, knownAs: nil, confirmedBy: claim)
        } catch .refused(.providerConflict(.heldByOther)) {
            return nil
        }
    }

    /// Counts an address that the client signs up with or claims, before its password is hashed.
    func countClaim() async throws(APIError) {
        do throws(CodeFailure) {
            try await services.passwords.countClaim(from: clientNetwork, in: tenant, at: now)
        } catch {
            throw self.error(error, or: .invalidPassword)
        }
    }

    /// Sends the code of a sign-up or of a claim.
    func send(_ confirmation: Confirmation) async throws(CodeFailure) -> ChallengeID {
        try await services.passwords.signUp(
            confirmation.address, confirmation.password, hash: confirmation.hash,
            mayBeClaimed: configuration.policy.confirmLater, of: confirmation.provider,
            among: mailProviders, in: tenant, from: clientNetwork, language: confirmation.language,
            at: now)
    }
}

/// `POST /v1/auth/password-resets/{password_provider}`: sends the code of a reset.
struct BeginResetRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/password-resets/{password_provider}"
    static let operation = Operation(
        id: "begin_password_reset", tag: .signIn, summary: "Send a code to reset a password with",
        about: "Only if an account has a password with this address; the answer is the same.",
        access: .anyone, parameters: [LanguageHeader.parameter], body: BeginResetBody.self,
        answers: .json(CodeAnswer.schema),
        refusals: [
            .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (_, address) = try call.passwordAddress()
        let device = try call.body().deviceToken()
        let provider = try call.passwordProvider()
        let language = try LanguageHeader.read(call)
        return try await call.sent { () async throws(CodeFailure) in
            try await call.services.passwords.beginReset(
                address, of: provider, in: call.tenant, from: call.clientNetwork,
                knownAs: device, language: language, at: call.now)
        }
    }
}

/// `POST /v1/auth/password-resets/{password_provider}/complete`: replaces a password with the code of a reset.
struct CompleteResetRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/password-resets/{password_provider}/complete"
    static let operation = Operation(
        id: "complete_password_reset", tag: .signIn, summary: "Replace a forgotten password",
        about: "Ends all sessions of the account and opens none.",
        access: .anyone, body: CompleteResetBody.self, answers: .json(RecoveryAnswer.schema),
        refusals: [APIError].ofPassword + [
            .refused(.invalidCode), .refused(.accountDisabled), .weakPassword(.blocklisted),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let code = CodeBody(
            challenge: try body.text(CompleteResetBody.challengeID),
            code: try body.text(CompleteResetBody.code),
            deviceToken: try body.deviceToken())
        let settings = try call.passwordSettings()
        let password = try call.newPassword(under: settings)
        guard let provider = call.configuration(of: try call.passwordProvider()) else {
            throw .refused(.unsupportedProvider)
        }
        let proof: Proof
        do {
            proof = try await provider.proveReset(
                code, in: call.tenant, by: call.codeClient(nil), at: call.now)
        } catch {
            throw .refused(error.refusal)
        }
        let hash = try await call.hashed(password)
        let providers = try await call.submit(ResetPassword(proof, password: hash))
        return await call.recovered(providers, by: proof, presented: code.deviceToken)
    }
}

/// `POST /v1/account/password`: replaces the password of the caller's account.
struct ChangePasswordRoute: Route {
    static let method = "POST"
    static let path = "/v1/account/password"
    static let operation = Operation(
        id: "change_password", tag: .account, summary: "Change the password of the account",
        about:
            "With the current password, or shortly after a sign-in. Ends all sessions and opens a new"
            + " one, which is the answer.",
        access: .accountHolder, parameters: [IdempotencyHeader.refused],
        body: ChangePasswordBody.self,
        answers: .json(SessionAnswer.schema),
        refusals: [APIError].ofPassword + [
            .refused(.invalidPassword), .refused(.providerNotLinked),
            .refused(.reauthenticationRequired), .weakPassword(.blocklisted),
            IdempotencyHeader.refusal,
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let (caller, new, current) = try await call.byAccountHolder {
            caller throws(APIError) -> (Caller, PreparedPassword, CurrentPassword?) in
            try IdempotencyHeader.refuse(call)
            let body = try call.body()
            guard let (name, settings) = call.passwords else {
                throw .refused(.unsupportedProvider)
            }
            let new = try call.newPassword(under: settings)
            let address = try body.text(OptionalText.email)
            let text = try body.text(ChangePasswordBody.currentPassword)
            guard let text else { return (caller, new, nil) }
            guard let address else { throw .isRequired(OptionalText.email.name) }
            return (
                caller, new,
                CurrentPassword(
                    provider: name, address: address,
                    password: try text.password(ChangePasswordBody.currentPassword))
            )
        }
        let device = try call.body().deviceToken()
        let agreement = try await call.agreement(of: caller, by: current, knownAs: device)
        let hash = try await call.hashed(new)
        let (renewal, token) = try call.renewal(of: caller, password: agreement.password)
        let grant = try await call.submit(ChangePassword(renewal, to: hash))
        return await call.session(
            grant, refreshToken: token, isNewUser: false,
            deviceToken: await call.services.codes.deviceToken(
                for: agreement.addresses, agreement.account, presented: device,
                openedAt: grant.openedAt, in: call.tenant, at: call.now))
    }
}

private enum SignUpBody: BodyForm {
    static let name = "SignUpRequest"
    static let members: [any BodyMember] = [RequiredText.email, RequiredText.newPassword]
}

private enum BeginResetBody: BodyForm {
    static let name = "PasswordResetRequest"
    static let members: [any BodyMember] = [RequiredText.email, OptionalText.deviceToken]
}

private enum CompleteResetBody: BodyForm {
    static let name = "PasswordResetCompletion"
    static let challengeID = RequiredText(
        name: "challenge_id", bytesMax: RequestBody.challengeBytesMax,
        about: "The id of the challenge", example: ExampleValue.challenge)
    static let code = RequiredText(
        name: "code", bytesMax: RequestBody.challengeBytesMax, about: "The code that was sent",
        example: "270831")
    static let members: [any BodyMember] = [
        challengeID, code, RequiredText.newPassword, OptionalText.deviceToken,
    ]
}

enum ChangePasswordBody: BodyForm {
    static let name = "PasswordChange"
    static let currentPassword = OptionalText(
        name: "current_password", bytesMax: Password.bytesMax,
        about: "The current password, with its `email`; required when the sign-in is older",
        example: ExampleValue.password)
    static let members: [any BodyMember] = [
        RequiredText.newPassword, currentPassword, OptionalText.email, OptionalText.deviceToken,
    ]
}

extension RequiredText {
    static let email = RequiredText(
        name: "email", bytesMax: CodeSettings.typedBytesMax, about: "The e-mail address",
        example: "ada@example.com")
    static let newPassword = RequiredText(
        name: "password", bytesMax: Password.bytesMax, about: "The new password",
        example: ExampleValue.password)
}

extension [APIError] {
    fileprivate static let ofPassword: [APIError] = [
        .refused(.unsupportedProvider), .refused(.rateLimited(retryAfterSeconds: 60)),
        .faulted(.rulesDiffer),
    ]
}

extension String {
    /// Returns the text as a password.
    ///
    /// - Throws: 400 for an empty one; a longer one has been refused by then.
    func password(_ member: some BodyMember) throws(APIError) -> Password {
        do { return try Password(self) } catch { throw .isRequired(member.name) }
    }
}

extension RouteCall {
    /// The providers that find accounts by e-mail addresses.
    fileprivate var mailProviders: [ProviderName] {
        configuration.providers.values.filter { $0.pin.type.addressKind == .email }.map(\.name)
    }

    /// The tenant's provider of passwords.
    var passwords: (ProviderName, PasswordSettings)? {
        for provider in configuration.providers.values {
            if case .password(let settings) = provider.settings { return (provider.name, settings) }
        }
        return nil
    }

    /// The provider of the path.
    fileprivate func passwordProvider() throws(APIError) -> ProviderName {
        guard let name = captures["password_provider"].flatMap(ProviderName.init) else {
            throw .refused(.unsupportedProvider)
        }
        return name
    }

    fileprivate func passwordSettings() throws(APIError) -> PasswordSettings {
        let provider = configuration(of: try passwordProvider())
        guard case .password(let settings)? = provider?.settings else {
            throw .refused(.unsupportedProvider)
        }
        return settings
    }

    /// Reads the address of the body.
    ///
    /// - Throws: 400 for a text that is no address, and for a provider without passwords.
    fileprivate func passwordAddress() throws(APIError) -> (PasswordSettings, String) {
        let typed = try body().text(RequiredText.email)
        let settings = try passwordSettings()
        return (settings, try canonical(typed))
    }

    /// Returns the canonical form of an address.
    ///
    /// - Throws: 400 for a text that is no address.
    func canonical(_ typed: String) throws(APIError) -> String {
        guard let address = configuration.localParts.canonical(typed) else {
            throw .invalidRequest(
                RequestFlaw("email is not an e-mail address", at: .field("email")))
        }
        return address
    }

    /// Reads the new password of the body.
    func newPassword() throws(APIError) -> Password {
        try body().text(RequiredText.newPassword).password(RequiredText.newPassword)
    }

    /// Reads the new password of the body, checked.
    ///
    /// - Throws: 400 for one that breaks the rule.
    func newPassword(under settings: PasswordSettings) throws(APIError) -> PreparedPassword {
        try prepared(newPassword(), under: settings)
    }

    /// Checks a new password.
    ///
    /// - Throws: 400 for one that breaks the rule.
    func prepared(
        _ password: Password, under settings: PasswordSettings
    ) throws(APIError) -> PreparedPassword {
        do { return try settings.rule.check(password) } catch { throw .weakPassword(error) }
    }

    func hashed(_ password: PreparedPassword) async throws(APIError) -> NewPassword {
        do throws(CodeFailure) {
            return try await services.passwords.hash(password, from: clientNetwork)
        } catch {
            throw self.error(error, or: .invalidPassword)
        }
    }

    /// Sends a code and answers with its challenge.
    func sent(
        _ send: () async throws(CodeFailure) -> ChallengeID
    ) async throws(APIError) -> HTTPResponse {
        let id: ChallengeID
        do { id = try await send() } catch { throw self.error(error, or: .invalidCode) }
        return .json(
            CodeAnswer(
                challengeID: id.description, expiresIn: StoredChallenge.lifetimeSeconds))
    }

    func error(_ failure: CodeFailure, or wrong: Refusal) -> APIError {
        switch failure {
        case .wrong: .refused(wrong)
        case .wrongCode: .refused(.invalidCode)
        case .limited(let seconds), .codeNeeded(let seconds):
            .refused(.rateLimited(retryAfterSeconds: seconds))
        case .faulted(let fault): .faulted(fault)
        }
    }
}
