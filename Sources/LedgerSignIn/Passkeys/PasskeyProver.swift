internal import Ledger

/// Proves that a client has a passkey.
struct PasskeyProver {
    let provider: ProviderName
    let settings: PasskeySettings

    /// Checks a response, whose challenge must have been made for the purpose.
    ///
    /// - Throws: `invalid`, `unavailable` when the store fails.
    func prove(
        _ body: PasskeyBody, by client: CodeClient, in tenant: TenantID, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        try await client.passkeys.prove(
            body, for: uses(purpose, client.caller), of: provider, settings, in: tenant, at: now)
    }

    private func uses(_ purpose: ProofPurpose, _ caller: Caller?) -> [PasskeyChecks.Use] {
        switch purpose {
        case .signIn: [.signUp, .signIn]
        case .link: caller.map { [.link($0)] } ?? []
        case .mergePreview: caller.map { [.merge($0, plan: nil)] } ?? []
        case .merge(let plan, _): caller.map { [.merge($0, plan: plan)] } ?? []
        }
    }
}
