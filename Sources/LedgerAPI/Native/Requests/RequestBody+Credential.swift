internal import Ledger
internal import LedgerSignIn
internal import Passwords

extension [any BodyMember] {
    /// The members of a credential.
    static let credential = credentialForPlan + [OptionalText.nonce]
    /// The members of a credential that is bound to the plan of a merge.
    static let credentialForPlan: [any BodyMember] = [
        OptionalText.idToken, OptionalText.accessToken, OptionalText.anonymousSecret,
        OptionalText.challengeID, OptionalText.code, OptionalText.email, OptionalText.password,
        OptionalText.deviceToken, OptionalObject.credential, OptionalText.flowCode,
        OptionalText.codeVerifier,
    ]
}

extension RequestBody {
    /// Reads the members that a provider's type asks for.
    ///
    /// For an unknown provider, those of OpenID Connect, since the contract refuses a malformed
    /// body before an unknown provider.
    ///
    /// - Parameters:
    ///   - provider: the provider; nil when the tenant has no such provider.
    ///   - isForPlan: whether the credential is bound to the plan of a merge, so that the client
    ///     chooses no nonce.
    ///   - isForSignIn: whether a code to an address may come with its password.
    /// - Returns: the credential, not checked.
    /// - Throws: 400 for a missing or malformed member.
    func credential(
        for provider: ProviderConfiguration?, isForPlan: Bool = false, isForSignIn: Bool = false
    ) throws(APIError) -> CredentialBody {
        let verifier = try text(OptionalText.codeVerifier)
        if let pageFlow, try text(OptionalText.flowCode) == PageFlowCookie.codeInBody {
            return .flow(pageFlow)
        }
        if try text(OptionalText.flowCode) != nil {
            let code = try required(.flowCode)
            guard let verifier else { throw .isRequired(OptionalText.codeVerifier.name) }
            return .flow(FlowBody(code: code, verifier: verifier))
        }
        return switch provider?.settings.type ?? .oidc {
        case .oidc:
            .oidc(
                OIDCBody(
                    idToken: try required(.idToken),
                    nonce: isForPlan ? nil : try text(OptionalText.nonce)))
        case .oauth2: .oauth2(OAuth2Body(accessToken: try required(.accessToken)))
        case .anonymous: .anonymous(AnonymousBody(secret: try required(.anonymousSecret)))
        case .email, .phone: .code(try code())
        case .password: .password(try password(for: provider, isForSignIn: isForSignIn))
        case .passkey: .passkey(try passkey())
        }
    }

    private func code() throws(APIError) -> CodeBody {
        CodeBody(
            challenge: try required(.challengeID), code: try required(.code),
            deviceToken: try deviceToken())
    }

    private func passkey() throws(APIError) -> PasskeyBody {
        let challenge = try required(.challengeID)
        guard let credential = try object(OptionalObject.credential) else {
            throw .isRequired(OptionalObject.credential.name)
        }
        return PasskeyBody(challenge: challenge, credential: credential)
    }

    /// Reads an address with its password, for a sign-in also with a code; or a code, with the password that it sets
    /// by a link.
    private func password(
        for provider: ProviderConfiguration?, isForSignIn: Bool
    ) throws(APIError) -> PasswordBody {
        let given = try text(OptionalText.password)
        let hasCode = try text(OptionalText.challengeID) != nil
        let address = try text(OptionalText.email)
        guard !hasCode || isForSignIn && given != nil && address != nil else {
            guard let given, case .password(let settings)? = provider?.settings else {
                return .signUp(try code())
            }
            let password = try given.password(OptionalText.password)
            do { return .new(try code(), try settings.rule.check(password)) } catch {
                if let refusal = error as? PasswordRefusal { throw .weakPassword(refusal) }
                throw error as? APIError ?? .faulted(.internalFailure)
            }
        }
        return .known(
            address: try required(.email),
            try required(.password).password(OptionalText.password),
            deviceToken: try deviceToken(), code: hasCode ? try code() : nil)
    }

    /// Reads a credential, which for an anonymous account may be absent: then a new secret takes its place, with the
    /// attestation for a sign-in where the provider asks for one.
    ///
    /// - Throws: 400 for a missing or malformed member.
    func credentialOrNewSecret(
        for provider: ProviderConfiguration?, isForSignIn: Bool = false
    ) throws(APIError) -> CredentialBody {
        if case .anonymous(let settings)? = provider?.settings,
            try text(OptionalText.anonymousSecret) == nil
        {
            let isAttested = isForSignIn && settings.attestation != nil
            return .anonymous(
                AnonymousBody(attestation: isAttested ? try required(.attestation) : nil))
        }
        return try credential(for: provider, isForSignIn: isForSignIn)
    }

    /// Returns the text of a member that the provider's type asks for.
    private func required(_ member: OptionalText) throws(APIError) -> String {
        guard let text = try text(member), !text.isEmpty else { throw .isRequired(member.name) }
        return text
    }
}

extension OptionalObject {
    static let credential = OptionalObject(
        name: "credential",
        about: "The browser's response (`toJSON()`); required for a provider of type `passkey`")
}

extension OptionalText {
    static let idToken = OptionalText(
        name: "id_token", bytesMax: RequestBody.tokenBytesMax,
        about: "The ID token; required for a provider of type `oidc`",
        example: ExampleValue.idToken, isInExample: true)
    static let accessToken = OptionalText(
        name: "access_token", bytesMax: RequestBody.accessTokenBytesMax,
        about: "The access token; required for a provider of type `oauth2`",
        example: ExampleValue.providerAccessToken)
    static let anonymousSecret = OptionalText(
        name: "anonymous_secret", bytesMax: RequestBody.anonymousSecretBytesMax,
        about: "The secret of an anonymous account; for a provider of type `anonymous`",
        example: ExampleValue.anonymousSecret)
    static let attestation = OptionalText(
        name: "attestation", bytesMax: RequestBody.attestationBytesMax,
        about:
            "The text by which the operator's service decides whether the account is opened;"
            + " required for a provider of type `anonymous` with such a service, without"
            + " `anonymous_secret`",
        example: "o2NmbXRvYXBwbGUtYXBwYXR0ZXN0")
    static let challengeID = OptionalText(
        name: "challenge_id", bytesMax: PasskeyChecks.challengeBytesMax,
        about: "The id of the challenge; required for types `email`, `phone` and `passkey`",
        example: ExampleValue.challenge)
    static let code = OptionalText(
        name: "code", bytesMax: RequestBody.challengeBytesMax,
        about: "The code that was sent; required for a provider of type `email` or `phone`",
        example: "270831")
    static let email = OptionalText(
        name: "email", bytesMax: CodeSettings.typedBytesMax,
        about:
            "The e-mail address; required for a provider of type `password` without `challenge_id`; with"
            + " `challenge_id`, `code` and `password`, the code is one to this address for a sign-in",
        example: "ada@example.com")
    static let password = OptionalText(
        name: "password", bytesMax: Password.bytesMax,
        about: "The password; required for a provider of type `password`, but to finish a sign-up",
        example: ExampleValue.password)
    static let deviceToken = OptionalText(
        name: "device_token", bytesMax: AddressCodes.deviceTokenBytesMax,
        about: "The `device_token` of the client's last sign-in that returned one",
        example: ExampleValue.deviceToken)
    static let flowCode = OptionalText(
        name: "flow_code", bytesMax: BrowserFlows.codeBytesMax,
        about:
            "The `flow_code` of a browser flow, or the `proof_token` of a refused link, in place of"
            + " the provider's token",
        example: ExampleValue.flowCode)
    static let codeVerifier = OptionalText(
        name: "code_verifier", bytesMax: FlowBody.verifierLengths.upperBound,
        about: "The verifier whose `code_challenge` began the flow; required with `flow_code`",
        example: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    static let nonce = OptionalText(
        name: "nonce", bytesMax: RequestBody.nonceBytesMax,
        about: "The nonce that the client generated for the provider, before any hashing",
        example: "n-0S6_WzA2Mj")
}
