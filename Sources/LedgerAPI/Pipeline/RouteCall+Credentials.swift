internal import Ledger
internal import LedgerSignIn

extension RouteCall {
    /// Returns the configuration of a provider; nil when the tenant has no such provider.
    func configuration(of provider: ProviderName?) -> ProviderConfiguration? {
        provider.flatMap { configuration.providers[$0] }
    }

    /// Returns the client of the request, as the check of a code sees it.
    func codeClient(_ caller: Caller?) -> CodeClient {
        CodeClient(
            codes: services.codes, passwords: services.passwords, passkeys: services.passkeys,
            flows: services.flows, network: clientNetwork, caller: caller,
            newID: services.random)
    }

    /// Checks a credential before the command is queued, so that the transaction never waits for a
    /// provider; the result counts only at its place in the contract's order of checks.
    func credential(
        _ body: CredentialBody, of provider: ProviderName, for purpose: ProofPurpose,
        by caller: Caller
    ) async -> Credential {
        let check: Result<Proof, Credential.Flaw>
        do throws(Credential.Flaw) {
            guard let configured = configuration(of: provider) else {
                throw .unsupported
            }
            check = .success(
                try await configured.prove(
                    body, in: tenant, for: purpose, by: codeClient(caller), at: now))
        } catch {
            check = .failure(error)
        }
        return Credential(
            provider: provider, digest: services.requestDigests.attempt(body.digest, at: now),
            check: check)
    }
}
