internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// `POST /v1/auth/sign-in/{provider}`: opens a session with an ID token, and an account if
/// necessary.
struct SignInRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/sign-in/{provider}"

    /// No one is authenticated before the ID token is found valid, so nothing before that reaches
    /// the log.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let idToken = try body.text("id_token", bytesMax: RequestBody.tokenBytesMax)
        let nonce = try body.optionalText("nonce", bytesMax: RequestBody.nonceBytesMax)
        let createAccount = try body.optionalFlag("create_account") ?? true
        guard let provider = call.provider.flatMap({ call.configuration.providers[$0] }) else {
            throw .refused(.unsupportedProvider)
        }
        switch await provider.prove(idToken, nonce: nonce, at: call.now) {
        case .invalid: throw .refused(.invalidProviderToken)
        case .unavailable: throw .refused(.providerUnavailable)
        case .proved(let subject, let email, let authenticatedAt, _, let end):
            let session: SessionID = call.services.newID()
            let token = call.services.refreshTokens.issue(for: session, in: call.tenant)
            guard let digest = RefreshTokens.digest(token) else {
                throw .faulted(.internalFailure)
            }
            let command = SignIn(
                subject: subject, email: email, authenticatedAt: authenticatedAt,
                singleUse: call.configuration.policy.singleUseIDTokens
                    ? call.services.singleUseIDTokens.token(
                        idToken, acceptedUntil: end, in: call.tenant) : nil,
                createAccount: createAccount, refreshToken: digest,
                newAccount: call.services.newID(), newIdentity: call.services.newID(),
                newSession: session)
            guard case .signedIn(let grant, let isNewUser) = try await call.submit(.signIn(command))
            else { throw .faulted(.internalFailure) }
            return call.session(grant, refreshToken: token, isNewUser: isNewUser)
        }
    }
}
