internal import Ledger
internal import LedgerSignIn
internal import Passwords

/// The password by which an account holder agrees to a change, as the client states it.
struct CurrentPassword {
    let provider: ProviderName
    let address: String
    let password: Password
}

/// An account holder's agreement to a change that ends all sessions and device tokens, with what their device stays
/// known to.
struct Agreement {
    /// The password, as it was checked; nil without one.
    let password: PasswordVersion?
    /// The address that the password proved, and those of the account to which the device is known.
    let addresses: [ProvedAddress]
    /// The account, if the device is known to it: the change alone proves no second factor to a new device.
    let account: AccountID?
}

extension RouteCall {
    /// Checks the password by which an account holder agrees to a change, if there is one, before the change.
    ///
    /// - Throws: 401 for a session that has ended, and for any other password than one of the caller's account.
    func agreement(
        of caller: Caller, by current: CurrentPassword?, knownAs device: String?
    ) async throws(APIError) -> Agreement {
        let identities = try await self.identities(of: caller)
        let checked = try await check(current, of: caller, identities)
        let proved = checked.flatMap { $0.stored.isClaimed ? nil : $0.address }
        let mailed = identities.filter {
            configuration(of: $0.provider)?.pin.type.addressKind == .email
        }
        var addresses = [proved].compactMap { $0.map(provedAddress) }
        for text in Set(mailed.compactMap(\.email?.address)) where text != proved {
            let other = provedAddress(text)
            if await isKnown(device, to: other, nil) { addresses.append(other) }
        }
        return Agreement(
            password: checked?.stored.version, addresses: addresses,
            account: await isKnown(device, to: nil, caller.account) ? caller.account : nil)
    }

    private func provedAddress(_ text: String) -> ProvedAddress {
        ProvedAddress(
            kind: .email, text: text, names: services.codes.names(of: text, .email, in: tenant),
            newID: services.newID())
    }

    private func isKnown(
        _ device: String?, to address: ProvedAddress?, _ account: AccountID?
    ) async -> Bool {
        await services.codes.isKnown(device, to: address, account, in: tenant, at: now)
    }

    private func check(
        _ current: CurrentPassword?, of caller: Caller, _ identities: [LinkedIdentity]
    ) async throws(APIError) -> PasswordChecks.Checked? {
        guard let current else { return nil }
        let holder = PasswordChecks.Holder(
            account: caller.account, identities: Set(identities.map(\.id)))
        do throws(CodeFailure) {
            return try await services.passwords.check(
                current.address, current.password, at: current.provider, by: holder,
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
