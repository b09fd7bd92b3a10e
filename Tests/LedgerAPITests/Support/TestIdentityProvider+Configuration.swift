import Cryptography
import Ledger
import LedgerSignIn
import LedgerTestSupport
import OpenID
import Testing

extension TestIdentityProvider {
    /// Returns a configuration that takes the key set from this object.
    func configuration(
        displayName: String? = nil, nonce: IDTokenPolicy.NonceMode = .raw,
        nonceRequired: Bool = false, secondFactorMethods: Set<String> = []
    ) throws -> ProviderConfiguration {
        ProviderConfiguration(
            name: try #require(ProviderName(name)), displayName: displayName,
            settings: .oidc(
                OIDCSettings(
                    check: IDTokenPolicy(
                        issuers: [issuer], audiences: [Self.audience], algorithms: [.rs256],
                        nonce: nonce, nonceRequired: nonceRequired),
                    keys: KeySetCache(
                        url: "\(issuer)/keys",
                        fetch: { _ in FetchedKeySet(body: try self.keySet(), maxAgeSeconds: nil) }),
                    flow: FlowSettings(
                        authorizationURL: "\(issuer)/authorize", tokenURL: "\(issuer)/token",
                        client: Self.audience, secret: "secret", scope: "openid"),
                    secondFactorMethods: secondFactorMethods)))
    }
}
