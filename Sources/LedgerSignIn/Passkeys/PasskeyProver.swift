internal import Ledger

/// Proves that a client has a passkey.
struct PasskeyProver {
    let provider: ProviderName
    let settings: PasskeySettings
    let checks: PasskeyChecks
    /// The account and the session of the client's access token; nil without one.
    let caller: Caller?

    /// Checks a response, whose challenge must have been made for the purpose.
    ///
    /// - Throws: `invalid`, `unavailable` when the store fails.
    func prove(
        _ body: PasskeyBody, in tenant: TenantID, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        try await checks.prove(
            body, for: uses(purpose), of: provider, settings, in: tenant, at: now)
    }

    private func uses(_ purpose: ProofPurpose) -> [PasskeyChecks.Use] {
        switch purpose {
        case .signIn: [.signUp, .signIn]
        case .link: caller.map { [.link($0)] } ?? []
        case .mergePreview: caller.map { [.merge($0, plan: nil)] } ?? []
        case .merge(let plan, _): caller.map { [.merge($0, plan: plan)] } ?? []
        }
    }
}
