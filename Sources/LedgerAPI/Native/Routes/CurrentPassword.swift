internal import Ledger
internal import LedgerSignIn
internal import Passwords

/// The password by which an account holder agrees to a change, as the client states it.
struct CurrentPassword {
    let provider: ProviderName
    let address: String
    let password: Password
}

extension RouteCall {
    /// Checks the password by which an account holder agrees to a change.
    ///
    /// - Returns: nil without one.
    /// - Throws: 401 for a session that has ended, and for any other password than one of the caller's account.
    func version(
        of current: CurrentPassword?, by caller: Caller
    ) async throws(APIError) -> PasswordVersion? {
        let identities = try await self.identities(of: caller)
        guard let current else { return nil }
        let holder = PasswordChecks.Holder(
            account: caller.account, identities: Set(identities.map(\.id)))
        do throws(CodeFailure) {
            return try await services.passwords.version(
                of: current.address, current.password, at: current.provider, by: holder,
                in: tenant, from: clientNetwork, at: now)
        } catch {
            throw self.error(error, or: .invalidPassword)
        }
    }

    /// Returns the agreement to a change that ends all sessions, and the first refresh token of the new one.
    func renewal(
        of caller: Caller, password: PasswordVersion?
    ) throws(APIError) -> (SessionRenewal, refreshToken: String) {
        let session: SessionID = services.newID()
        let token = services.refreshTokens.issue(for: session, in: tenant)
        guard let digest = RefreshTokens.digest(token) else { throw .faulted(.internalFailure) }
        let renewal = SessionRenewal(
            caller: caller, password: password, refreshToken: digest, newSession: session)
        return (renewal, token)
    }
}
