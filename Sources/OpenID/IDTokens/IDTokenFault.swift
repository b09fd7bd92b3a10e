/// The reason why an ID token was refused; contains nothing of the token.
package enum IDTokenFault: String, Error, Sendable, CaseIterable {
    /// Not a compact JWS of strict JSON, or a claim of the wrong type.
    case malformed
    /// The header's `typ` names another kind of token, RFC 8725 section 3.11.
    case wrongType
    /// The key set has no single key for the header's `kid` and algorithm, or that one is for another issuer.
    case unknownKey
    /// The header's algorithm is not in the policy.
    case algorithmNotAllowed
    /// The signature does not match.
    case badSignature
    /// `iss` is missing or not one of the policy's, or not that of the token's permitted tenant.
    case wrongIssuer
    /// `aud` is missing or contains none of the policy's.
    case wrongAudience
    /// With several audiences, `azp` is missing or not one of the policy's.
    case wrongAuthorizedParty
    /// `exp` is missing.
    case missingExpiry
    /// `exp` has passed.
    case expired
    /// `nbf` is in the future.
    case notYetValid
    /// `iat` is missing.
    case missingIssuedAt
    /// `iat` is in the future.
    case issuedInFuture
    /// `sub`, or what stands for it, is missing, empty, too long or has control characters.
    case badSubject
    /// The policy requires a nonce and the client sent none.
    case nonceMissing
    /// The token's nonce is not the client's, or only one of the two has one.
    case nonceMismatch
    /// The provider's keys are unavailable at the moment; the only fault not caused by the token.
    case keysUnavailable
}
