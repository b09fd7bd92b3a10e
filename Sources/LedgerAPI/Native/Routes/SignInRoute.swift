internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `POST /v1/auth/sign-in/{provider}`: opens a session with a credential, and an account if
/// necessary.
struct SignInRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-in/{provider}"
    static let operation = Operation(
        id: "sign_in", tag: .signIn, summary: "Open a session with a provider's credential",
        about: "Opens an account for an unknown identity unless `create_account` is false. Without"
            + " `anonymous_secret`, a provider of type `anonymous` always opens one, for which it"
            + " may ask for an `attestation`. After a"
            + " refusal whose `details.needs` is `code`, a code to the address is sent beside its password.",
        access: .anyone, parameters: [IdempotencyHeader.refused], body: SignInBody.self,
        answers: .json(SessionAnswer.schema),
        refusals: [APIError].ofCredential + [
            .refused(.accountNotFound), .refused(.invalidPassword), .refused(.accountDisabled),
            .refused(.addressUnused),
            .secondFactorRequired(token: ExampleValue.signInToken, []),
            .codeNeeded(retryAfterSeconds: 60), IdempotencyHeader.refusal,
        ])

    /// No one is authenticated before the credential is found valid, so nothing before that reaches
    /// the log.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try IdempotencyHeader.refuse(call)
        let body = try call.body()
        let provider = call.configuration(of: call.provider)
        let presented = try body.credentialOrNewSecret(for: provider, isForSignIn: true)
        let createAccount = try body.flag(SignInBody.createAccount) ?? true
        guard let provider else { throw .refused(.unsupportedProvider) }
        let proof: Proof
        do {
            proof = try await provider.prove(
                presented, in: call.tenant, for: purpose(call), by: call.codeClient(nil),
                at: call.now)
        } catch {
            switch error {
            case .codeNeeded(let seconds):
                await call.recordThrottling(of: presented, at: provider.name)
                throw .codeNeeded(retryAfterSeconds: seconds)
            case .limited: await call.recordThrottling(of: presented, at: provider.name)
            default: break
            }
            throw .refused(error.refusal)
        }
        let newSecret = try await newSecret(presented, of: provider, createAccount, call)
        if case .passkey(let settings) = provider.settings, createAccount,
            proof.passkey?.registered != nil
        {
            try call.take(settings.budget)
        }
        return try await call.opened(
            by: proof, createAccount: createAccount && presented.mayOpenAccount,
            knownAs: presented.deviceToken, newSecret: newSecret)
    }

    /// Returns the secret of the anonymous account to be opened, which the settings must admit; nil for any
    /// other sign-in.
    private func newSecret(
        _ presented: CredentialBody, of provider: ProviderConfiguration, _ createAccount: Bool,
        _ call: RouteCall
    ) async throws(APIError) -> String? {
        guard case .anonymous(let body) = presented, body.isNew,
            case .anonymous(let settings) = provider.settings
        else { return nil }
        guard createAccount else { throw .refused(.accountNotFound) }
        do throws(Credential.Flaw) {
            try await settings.admit(
                body, by: call.codeClient(nil), at: provider.name, in: call.tenant, at: call.now)
        } catch {
            throw .refused(error.refusal)
        }
        return body.secret
    }

    private func purpose(_ call: RouteCall) -> ProofPurpose {
        .signIn(
            call.tenant,
            singleUse: call.configuration.policy.singleUseIDTokens
                ? call.services.singleUseIDTokens : nil)
    }
}

extension RouteCall {
    /// Counts an account that the client opens without a proof that a provider or a code has checked.
    fileprivate func take(_ budget: OpeningBudget) throws(APIError) {
        if let seconds = budget.take(for: clientNetwork, at: now) {
            throw .refused(.rateLimited(retryAfterSeconds: seconds))
        }
    }

    /// Records a refused sign-in once an hour for an address, without delaying the answer: the time of the answer must
    /// not tell whether an account has the address.
    fileprivate func recordThrottling(
        of presented: CredentialBody, at provider: ProviderName
    ) async {
        guard case .password(let body) = presented,
            let names = await services.passwords.firstRefused(
                body, in: tenant, from: clientNetwork, at: now)
        else { return }
        Task { try? await submit(RecordThrottling(of: names, at: provider)) }
    }
}

/// The body of a sign-in.
private enum SignInBody: BodyForm {
    static let name = "SignInRequest"
    static let createAccount = OptionalFlag(
        name: "create_account",
        about: "Whether an account is opened for an unknown identity; true by default",
        example: true)
    static let members: [any BodyMember] = .credential + [OptionalText.attestation, createAccount]
}

extension [APIError] {
    /// The refusals of a request that proves an identity.
    static let ofCredential: [APIError] = [
        .refused(.unsupportedProvider), .refused(.invalidProviderToken), .refused(.invalidCode),
        .refused(.providerUnavailable), .refused(.rateLimited(retryAfterSeconds: 60)),
        .faulted(.rulesDiffer),
    ]
}
