internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

extension RouteCall {
    /// Returns the answer that issues a session's tokens, or to a page the cookie.
    func session(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil, status: Int = 200
    ) async throws(APIError) -> HTTPResponse {
        if page != nil {
            return .json(
                PageSessionAnswer(isNewUser: isNewUser, challenge: challenge), status: 201,
                headers: [pageCookie(of: grant)]
                    + [deviceToken].compactMap { $0.map(PageDeviceCookie.set) })
        }
        return .json(
            try await sessionAnswer(
                grant, refreshToken: refreshToken, isNewUser: isNewUser,
                anonymousSecret: anonymousSecret, deviceToken: deviceToken, challenge: challenge),
            status: status)
    }

    /// Returns the tokens of a session.
    ///
    /// - Throws: 503 when the account's external ids, which the tenant wants in access tokens, can't be read: a service
    ///   could take a token without them for that of a person whom it does not know.
    func sessionAnswer(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil
    ) async throws(APIError) -> SessionAnswer {
        SessionAnswer(
            accessToken: surface.accessToken(
                for: grant, names: try await tokenNames(of: grant.account), in: tenant, services),
            refreshToken: refreshToken, expiresIn: services.accessTokens.lifetimeSeconds,
            userID: grant.account.description, isNewUser: isNewUser,
            linkedProviders: grant.linkedProviders.map(\.description),
            anonymousSecret: anonymousSecret, deviceToken: deviceToken,
            challengeID: challenge?.description)
    }

    /// The external ids of an account that its access tokens state.
    private func tokenNames(
        of account: AccountID
    ) async throws(APIError) -> [ExternalName] {
        let sources = configuration.tokenSources
        guard !sources.isEmpty else { return [] }
        do {
            // One more than a token has, which shows whether it is complete.
            return try await services.audit.names.names(
                of: account, in: sources, countMax: TokenNames.countMax + 1, of: tenant)
        } catch {
            throw .faulted(error)
        }
    }
}
