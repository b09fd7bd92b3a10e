internal import HTTP
internal import Ledger
internal import LedgerWire

extension RouteCall {
    /// Returns the answer that issues a session's tokens.
    func session(_ grant: Grant, refreshToken: String, isNewUser: Bool) -> HTTPResponse {
        let tokens = services.accessTokens
        let answer = SessionAnswer(
            accessToken: tokens.issue(for: grant, in: tenant, at: services.now()),
            refreshToken: refreshToken, expiresIn: tokens.lifetimeSeconds,
            userID: grant.account.description, isNewUser: isNewUser,
            linkedProviders: grant.linkedProviders.map(\.description))
        return .json(answer)
    }
}
