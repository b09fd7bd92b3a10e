import CommandLine
import Cryptography
import DevelopmentIdentityProvider
import Foundation
import Ledger
import LedgerSignIn
import OpenID

/// The providers of each tenant: from the file, or those of the development mode.
enum TenantSetup {
    /// Reads the file of `LEDGER_PROVIDERS`.
    ///
    /// - Throws: `Fault` with one line that names the position in the file.
    static func read(
        path: String, limits: PolicyLimits
    ) throws(Fault) -> [TenantID: TenantConfiguration] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault("\(Setting.providers.name): can't read the file")
        }
        do throws(ProvidersFileFault) {
            return try ProvidersFile.parse(Array(data), policy: limits.policy)
        } catch {
            throw Fault("\(Setting.providers.name): \(error)")
        }
    }

    /// Returns the pin of an imitated provider: the same on every address.
    static func developmentPin(of provider: ProviderName) -> ProviderPin {
        ProviderPin(
            type: ImitatedTokenProvider.names.contains(provider.description) ? .oauth2 : .oidc,
            issuers: ["development:\(provider)"])
    }

    /// Returns the providers that the development identity provider imitates, the same for each tenant.
    static func development(
        _ imitated: [ImitatedProvider], api: String, tenants: some Sequence<TenantID>,
        limits: PolicyLimits
    ) -> [TenantID: TenantConfiguration] {
        let providers = imitated.compactMap { provider in
            ProviderName(provider.name).map { name in
                ProviderConfiguration(
                    name: name, pin: developmentPin(of: name),
                    settings: .oidc(
                        OIDCSettings(
                            check: IDTokenPolicy(
                                issuers: [provider.issuer],
                                audiences: [DevelopmentIdentityProvider.audience],
                                algorithms: [.rs256], nonce: provider.nonce),
                            keys: KeySetCache(
                                url: DevelopmentIdentityProvider.keySetURL(
                                    of: provider.name, api: api)))))
            }
        }
        let tokenProviders = OAuth2Settings.Preset.allCases.compactMap { preset in
            ProviderName(preset.rawValue).map { name in
                ProviderConfiguration(
                    name: name, pin: developmentPin(of: name),
                    settings: .oauth2(
                        OAuth2Settings(
                            preset, client: DevelopmentIdentityProvider.audience,
                            secret: ImitatedTokenProvider.clientSecret,
                            api: DevelopmentIdentityProvider.baseURL(
                                of: preset.rawValue, api: api))))
            }
        }
        let configuration = TenantConfiguration(
            providers: providers + tokenProviders, policy: limits.policy)
        return Dictionary(tenants.map { ($0, configuration) }) { first, _ in first }
    }
}
