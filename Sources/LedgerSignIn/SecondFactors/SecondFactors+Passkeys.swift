package import Ledger
package import Passkeys

/// Passkeys as second factors.
extension SecondFactors {
    /// The response of a passkey, with the tenant's providers of passkeys.
    package struct PasskeyUse: Sendable {
        let body: PasskeyBody
        let providers: [PasskeyProvider]

        /// Describes a response.
        package init(_ body: PasskeyBody, among providers: [PasskeyProvider]) {
            self.body = body
            self.providers = providers
        }
    }

    /// Returns the passkeys that are second factors of an account.
    package func passkeys(
        of account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> [StoredFactor] {
        try await store.factors(of: account, in: tenant).filter { $0.factor.kind == .passkey }
    }

    /// Makes the challenge of the enrolment of a passkey.
    ///
    /// - Parameters:
    ///   - caller: The account holder, whose session alone can confirm it.
    ///   - name: The name by which the authenticator tells accounts apart.
    ///   - displayName: The name of the person; may be empty.
    ///   - provider: The provider for whose domain it is made.
    ///   - tenant: The tenant.
    ///   - now: The time of the request.
    /// - Returns: The challenge.
    /// - Throws: the fault of the store.
    package func beginPasskey(
        by caller: Caller, name: String, displayName: String, of provider: PasskeyProvider,
        in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> PasskeyChecks.Challenge<PasskeyCreationOptions> {
        try await passkeys.beginRegistration(
            for: .enrolment(caller), name: name, displayName: displayName,
            besides: passkeys(of: caller.account, in: tenant), of: provider.name,
            provider.settings, in: tenant, at: now)
    }

    /// Checks the response of the enrolment of a passkey.
    ///
    /// - Returns: The factor, and the challenge as the command uses it up.
    /// - Throws: `wrong` for another response, `faulted`.
    package func confirm(
        _ use: PasskeyUse, as id: FactorID, by caller: Caller, in tenant: TenantID,
        at now: Timestamp
    ) async throws(CodeFailure) -> (factor: NewFactor, token: SingleUseIDToken) {
        guard let provider = use.providers.first else { throw .wrong }
        let confirmed: (factor: NewFactor, token: SingleUseIDToken)?
        do throws(LedgerFault) {
            confirmed = try await passkeys.confirm(
                use.body, as: id, by: caller, of: provider.name, provider.settings, in: tenant,
                at: now)
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
        of id: String, after first: SecondFactorTokens.FirstStep,
        among providers: [PasskeyProvider], in tenant: TenantID, at now: Timestamp
    ) async throws(CodeFailure) -> PasskeyChecks.Challenge<PasskeyRequestOptions> {
        guard let stored = try await factor(id, after: first, in: tenant),
            let provider = stored.passkey.flatMap(providers.of)
        else { throw .wrong }
        do throws(LedgerFault) {
            return try passkeys.beginAssertion(
                for: .secondStep(Self.step(stored, first)), with: stored, of: provider.name,
                provider.settings, in: tenant, at: now)
        } catch {
            throw .faulted(error)
        }
    }
}
