internal import Ledger
internal import LedgerSignIn

extension RequestBody {
    /// Reads the members that a provider's type asks for.
    ///
    /// For an unknown provider, those of OpenID Connect, since the contract refuses a malformed
    /// body before an unknown provider.
    ///
    /// - Parameters:
    ///   - provider: the provider; nil when the tenant has no such provider.
    ///   - isForPlan: whether the credential is bound to the plan of a merge, so that the client
    ///     chooses no nonce.
    /// - Returns: the credential, not checked.
    /// - Throws: 400 for a missing or malformed member.
    func credential(
        for provider: ProviderConfiguration?, isForPlan: Bool = false
    ) throws(APIError) -> CredentialBody {
        switch provider?.settings.type ?? .oidc {
        case .oidc:
            .oidc(
                OIDCBody(
                    idToken: try text(RequiredText.idToken),
                    nonce: isForPlan ? nil : try text(OptionalText.nonce)))
        }
    }
}
