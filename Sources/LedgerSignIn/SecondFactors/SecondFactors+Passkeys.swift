package import Ledger
package import Passkeys

/// Passkeys as second factors.
extension SecondFactors {
    /// The response of a passkey, with the tenant's provider of passkeys.
    package struct PasskeyUse: Sendable {
        let body: PasskeyBody
        let provider: ProviderName
        let settings: PasskeySettings

        /// Describes a response.
        package init(_ body: PasskeyBody, of provider: ProviderName, _ settings: PasskeySettings) {
            self.body = body
            self.provider = provider
            self.settings = settings
        }
    }

    /// Makes the challenge of the enrolment of a passkey.
    ///
    /// - Parameters:
    ///   - caller: The account holder, whose session alone can confirm it.
    ///   - name: The name by which the authenticator tells accounts apart.
    ///   - displayName: The name of the person; may be empty.
    ///   - provider: The tenant's provider of passkeys.
    ///   - settings: Its settings.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: The challenge.
    /// - Throws: the fault of the store.
    package func beginPasskey(
        by caller: Caller, name: String, displayName: String, of provider: ProviderName,
        _ settings: PasskeySettings, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> PasskeyChecks.Challenge<PasskeyCreationOptions> {
        try await passkeys.beginRegistration(
            for: .enrolment(caller), name: name, displayName: displayName,
            besides: store.factors(of: caller.account, in: tenant), of: provider, settings,
            in: tenant, at: now)
    }

    /// Checks the response of the enrolment of a passkey.
    ///
    /// - Returns: The factor, and the challenge as the command uses it up.
    /// - Throws: `wrong` for another response, `faulted`.
    package func confirm(
        _ use: PasskeyUse, as id: FactorID, by caller: Caller, in tenant: TenantID,
        at now: Timestamp
    ) async throws(CodeFailure) -> (factor: NewFactor, token: SingleUseIDToken) {
        let confirmed: (factor: NewFactor, token: SingleUseIDToken)?
        do throws(LedgerFault) {
            confirmed = try await passkeys.confirm(
                use.body, as: id, by: caller, of: use.provider, use.settings, in: tenant, at: now)
        } catch {
            throw .faulted(error)
        }
        guard let confirmed else { throw .wrong }
        return confirmed
    }

    /// Makes the challenge of a second factor that is a passkey, which follows this first step alone.
    ///
    /// - Throws: `wrong` for another factor, `faulted`.
    package func beginUse(
        of id: String, after first: SecondFactorTokens.FirstStep, at provider: ProviderName,
        _ settings: PasskeySettings, in tenant: TenantID, at now: Timestamp
    ) async throws(CodeFailure) -> PasskeyChecks.Challenge<PasskeyRequestOptions> {
        guard let stored = try await factor(id, after: first, in: tenant),
            stored.factor.kind == .passkey
        else { throw .wrong }
        do throws(LedgerFault) {
            return try passkeys.beginAssertion(
                for: .secondStep(Self.step(stored, first)), with: stored, of: provider, settings,
                in: tenant, at: now)
        } catch {
            throw .faulted(error)
        }
    }
}
