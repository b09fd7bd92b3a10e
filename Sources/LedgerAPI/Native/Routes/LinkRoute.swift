internal import Cryptography
internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// `POST /v1/auth/link/{provider}`: adds the identity that an ID token proves to the caller's
/// account.
struct LinkRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/link/{provider}"

    /// The ID token is checked before the command is queued, so that the transaction never waits
    /// for a provider; the result counts only at its place in the contract's order of checks.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let request = try await call.byAccountHolder { caller throws(APIError) in
            try LinkRequest(call, by: caller)
        }
        guard let tokenDigest = Digest(SHA256.hash(request.idToken)) else {
            throw .faulted(.internalFailure)
        }
        let configuration = call.configuration
        let command = LinkProvider(
            caller: request.caller, provider: request.provider,
            credential: await credential(
                request.idToken, nonce: request.nonce,
                of: configuration.providers[request.provider], at: call.now),
            tokenDigest: tokenDigest,
            idempotency: request.key.flatMap {
                IdempotencyHeader.key(
                    $0, of: request.caller.account, method: Self.method,
                    path: "/v1/auth/link/\(request.provider)", content: call.request.body)
            },
            newIdentity: call.services.newID())
        guard case .linked(let providers) = try await call.submit(.linkProvider(command)) else {
            throw .faulted(.internalFailure)
        }
        let name = configuration.displayName(of: request.provider)
        return .json(
            LinkedProvidersAnswer(
                linkedProviders: providers.map(\.description),
                message: "\(name) account linked successfully"))
    }

    private func credential(
        _ idToken: String, nonce: String?, of provider: ProviderConfiguration?, at now: Timestamp
    ) async -> LinkProvider.Credential {
        guard let provider else { return .unsupported }
        switch await provider.prove(idToken, nonce: nonce, at: now) {
        case .proved(let subject, let email, _, _, _): return .proved(subject, email: email)
        case .invalid: return .invalid
        case .unavailable: return .unavailable
        }
    }
}

/// An account holder's request to link an identity.
private struct LinkRequest {
    let caller: Caller
    let key: String?
    let idToken: String
    let nonce: String?
    let provider: ProviderName

    init(_ call: RouteCall, by caller: Caller) throws(APIError) {
        self.caller = caller
        key = try IdempotencyHeader.read(call.request.headers)
        let body = try call.body()
        idToken = try body.text("id_token", bytesMax: RequestBody.tokenBytesMax)
        nonce = try body.optionalText("nonce", bytesMax: RequestBody.nonceBytesMax)
        guard let provider = call.provider else { throw .refused(.unsupportedProvider) }
        self.provider = provider
    }
}
