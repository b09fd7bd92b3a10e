internal import HTTP
internal import Ledger

/// `POST /v1/auth/refresh`: exchanges a refresh token for the next pair of tokens.
struct RefreshRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/refresh"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let body = try call.body()
        let presented = try body.text("refresh_token", bytesMax: RequestBody.tokenBytesMax)
        let tokens = call.services.refreshTokens
        guard let session = tokens.session(of: presented, in: call.tenant),
            let presentedDigest = RefreshTokens.digest(presented)
        else { throw .refused(.invalidRefreshToken) }
        let successor = tokens.issue(for: session, in: call.tenant)
        guard let successorDigest = RefreshTokens.digest(successor) else {
            throw .faulted(.internalFailure)
        }
        let command = RefreshSession(
            session: session, presented: presentedDigest, successor: successorDigest,
            sealedSuccessor: RefreshTokens.seal(successor, with: presented, in: call.tenant))
        let refreshed = try await call.submit(command)
        switch refreshed.exchange {
        case .fresh:
            return call.session(refreshed.grant, refreshToken: successor, isNewUser: false)
        case .repeated(let sealed):
            guard let earlier = RefreshTokens.open(sealed, with: presented, in: call.tenant) else {
                throw .faulted(.internalFailure)
            }
            return call.session(refreshed.grant, refreshToken: earlier, isNewUser: false)
        }
    }
}
