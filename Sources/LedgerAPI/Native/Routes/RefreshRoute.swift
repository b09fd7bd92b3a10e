internal import HTTP
internal import Ledger
internal import LedgerWire

/// `POST /v1/auth/refresh`: exchanges a refresh token for the next pair of tokens.
struct RefreshRoute: Route {
    static let method = "POST"
    static let path = "/v1/auth/refresh"
    static let operation = Operation(
        id: "refresh", tag: .signIn, summary: "Exchange a refresh token for new tokens",
        about: "Each refresh token is good for one exchange; repeating the last one within ten"
            + " seconds gives the same answer.",
        access: .anyone, parameters: [IdempotencyHeader.refused], body: RefreshBody.self,
        answers: .json(SessionAnswer.schema),
        refusals: [.refused(.invalidRefreshToken), IdempotencyHeader.refusal])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        try IdempotencyHeader.refuse(call)
        let presented = try call.body().text(RefreshBody.refreshToken)
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
            return await call.session(
                refreshed.grant, refreshToken: successor, isNewUser: false)
        case .repeated(let sealed):
            guard let earlier = RefreshTokens.open(sealed, with: presented, in: call.tenant) else {
                throw .faulted(.internalFailure)
            }
            return await call.session(
                refreshed.grant, refreshToken: earlier, isNewUser: false)
        }
    }
}

/// The body of a refresh.
private enum RefreshBody: BodyForm {
    static let name = "RefreshRequest"
    static let refreshToken = RequiredText(
        name: "refresh_token", bytesMax: RequestBody.tokenBytesMax,
        about: "The latest refresh token", example: ExampleValue.refreshToken)
    static let members: [any BodyMember] = [refreshToken]
}
