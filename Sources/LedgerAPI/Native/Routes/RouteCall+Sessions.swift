internal import HTTP
internal import Ledger
internal import LedgerWire

extension RouteCall {
    /// Returns the answer that issues a session's tokens, or to a page the cookie.
    func session(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil, status: Int = 200
    ) -> HTTPResponse {
        if page != nil {
            return .json(
                PageSessionAnswer(isNewUser: isNewUser, challenge: challenge), status: 201,
                headers: [pageCookie(of: grant)]
                    + [deviceToken].compactMap { $0.map(PageDeviceCookie.set) })
        }
        return .json(
            sessionAnswer(
                grant, refreshToken: refreshToken, isNewUser: isNewUser,
                anonymousSecret: anonymousSecret, deviceToken: deviceToken, challenge: challenge),
            status: status)
    }

    /// Returns the tokens of a session.
    func sessionAnswer(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil
    ) -> SessionAnswer {
        SessionAnswer(
            accessToken: surface.accessToken(for: grant, in: tenant, services),
            refreshToken: refreshToken, expiresIn: services.accessTokens.lifetimeSeconds,
            userID: grant.account.description, isNewUser: isNewUser,
            linkedProviders: grant.linkedProviders.map(\.description),
            anonymousSecret: anonymousSecret, deviceToken: deviceToken,
            challengeID: challenge?.description)
    }
}
