internal import Ledger
internal import LedgerSignIn

extension RouteCall {
    /// Returns the configuration of a provider; nil when the tenant has no such provider.
    func configuration(of provider: ProviderName?) -> ProviderConfiguration? {
        provider.flatMap { configuration.providers[$0] }
    }

    /// Returns the client of the request, as the check of a code sees it.
    func codeClient(_ session: SessionID?) -> CodeClient {
        CodeClient(
            codes: services.codes, passwords: services.passwords, network: clientNetwork,
            session: session,
            newID: services.random)
    }

    /// Returns a refusal with the token of a proof that was not used up.
    func refusal(_ refusal: Refusal, givingBack proof: Proof?) -> APIError {
        proofToken(of: proof).map { .refusedWithProof(refusal, token: $0) } ?? .refused(refusal)
    }

    /// Returns the token of a proof that was not used up; nil without one.
    func proofToken(of proof: Proof?) -> String? {
        proof.flatMap { services.proofTokens.issue(for: $0, in: tenant, at: now) }
    }

    /// Reads a proof token.
    ///
    /// - Throws: `invalid` unless it was issued for this provider and has not expired.
    func proof(
        _ token: String, of provider: ProviderName
    ) throws(Credential.Flaw) -> Proof {
        guard configuration(of: provider) != nil else { throw .unsupported }
        return try services.proofTokens.proof(
            token, of: provider, in: tenant,
            names: { services.codes.names(of: $0, $1, in: tenant) }, at: now)
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
                    body, in: tenant, for: purpose, by: codeClient(caller.session), at: now))
        } catch {
            check = .failure(error)
        }
        return Credential(
            provider: provider, digest: services.requestDigests.attempt(body.digest, at: now),
            check: check)
    }
}
