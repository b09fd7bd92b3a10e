internal import Ledger
internal import LedgerSignIn

extension [any BodyMember] {
    /// The members of a credential.
    static let credential = credentialForPlan + [OptionalText.nonce]
    /// The members of a credential that is bound to the plan of a merge.
    static let credentialForPlan: [any BodyMember] = [RequiredText.idToken]
}

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

extension RequiredText {
    static let idToken = RequiredText(
        name: "id_token", bytesMax: RequestBody.tokenBytesMax, about: "The provider's ID token",
        example: ExampleValue.idToken)
}

extension OptionalText {
    static let nonce = OptionalText(
        name: "nonce", bytesMax: RequestBody.nonceBytesMax,
        about: "The nonce that the client generated for the provider, before any hashing",
        example: "n-0S6_WzA2Mj")
}
