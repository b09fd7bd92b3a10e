internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

extension RouteCall {
    /// Whether a page signs in beside its own session, which stays.
    var isBeside: Bool {
        page?.caller != nil && request.headers.count(of: PageRequest.besideField) > 0
    }

    /// Returns the answer that issues a session's tokens, or to a page the cookie; beside the page's own session, the
    /// access token alone.
    func session(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil, isBeside: Bool = false,
        status: Int = 200
    ) async -> HTTPResponse {
        if page != nil {
            return .json(
                PageSessionAnswer(
                    isNewUser: isNewUser, challenge: challenge,
                    accessToken: await isBeside ? accessToken(for: grant) : nil),
                status: 201,
                headers: (isBeside ? [] : [pageCookie(of: grant)])
                    + [deviceToken].compactMap { $0.map(PageDeviceCookie.set) })
        }
        return .json(
            await sessionAnswer(
                grant, refreshToken: refreshToken, isNewUser: isNewUser,
                anonymousSecret: anonymousSecret, deviceToken: deviceToken, challenge: challenge),
            status: status)
    }

    /// Returns the answer to a code that gave an account another password or its former address: it opens no session,
    /// and the device that proved the address is known from now on.
    func recovered(
        _ providers: [ProviderName], by proof: Proof, presented token: String?
    ) async -> HTTPResponse {
        let token = await services.codes.deviceToken(
            for: [proof.address].compactMap(\.self), nil, presented: token, in: tenant, at: now)
        let names = providers.map(\.description)
        guard page != nil else {
            return .json(RecoveryAnswer(linkedProviders: names, deviceToken: token))
        }
        return .json(
            RecoveryAnswer(linkedProviders: names, deviceToken: nil),
            headers: [token].compactMap { $0.map(PageDeviceCookie.set) })
    }

    /// Returns the tokens of a session.
    ///
    /// The session is committed: when the account's external ids, which the tenant wants in access tokens, can't be
    /// read, the token says that it lacks them.
    func sessionAnswer(
        _ grant: Grant, refreshToken: String, isNewUser: Bool, anonymousSecret: String? = nil,
        deviceToken: String? = nil, challenge: ChallengeID? = nil
    ) async -> SessionAnswer {
        SessionAnswer(
            accessToken: await accessToken(for: grant),
            refreshToken: refreshToken, expiresIn: services.accessTokens.lifetimeSeconds,
            userID: grant.account.description, isNewUser: isNewUser,
            linkedProviders: grant.linkedProviders.map(\.description),
            anonymousSecret: anonymousSecret, deviceToken: deviceToken,
            challengeID: challenge?.description)
    }

    private func accessToken(for grant: Grant) async -> String {
        surface.accessToken(
            for: grant, names: await tokenNames(of: grant.account), in: tenant, services)
    }

    /// The external ids of an account that its access tokens state; nil when they can't be read.
    private func tokenNames(of account: AccountID) async -> [ExternalName]? {
        let sources = configuration.tokenSources
        guard !sources.isEmpty else { return [] }
        // One more than a token has, which shows whether it is complete.
        return try? await services.audit.names.names(
            of: account, in: sources, countMax: TokenNames.countMax + 1, of: tenant)
    }
}
