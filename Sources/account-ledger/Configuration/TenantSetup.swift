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

    /// The provider of anonymous accounts in the development mode.
    private static let anonymous = "anonymous"
    /// The number of anonymous accounts that may be opened in an hour in the development mode.
    private static let developmentOpenings = 1_000_000

    /// Every provider of the development mode with its pin, which is the same on every address.
    static let developmentPins: [ProviderName: ProviderPin] = {
        let types =
            DevelopmentIdentityProvider.names.map { ($0, ProviderType.oidc) }
            + ImitatedTokenProvider.names.map { ($0, .oauth2) } + [(anonymous, .anonymous)]
        var pins: [ProviderName: ProviderPin] = [:]
        for (text, type) in types {
            guard let name = ProviderName(text) else { continue }
            let issuers = type == .anonymous ? [] : ["development:\(name)"]
            pins[name] = ProviderPin(type: type, issuers: issuers)
        }
        return pins
    }()

    /// Returns the providers that the development identity provider imitates, the same for each tenant.
    static func development(
        _ imitated: [ImitatedProvider], api: String, tenants: some Sequence<TenantID>,
        limits: PolicyLimits
    ) -> [TenantID: TenantConfiguration] {
        let providers = imitated.compactMap { provider in
            ProviderName(provider.name).map { name in
                ProviderConfiguration(
                    name: name, pin: developmentPins[name],
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
                    name: name, pin: developmentPins[name],
                    settings: .oauth2(
                        OAuth2Settings(
                            preset, client: DevelopmentIdentityProvider.audience,
                            secret: ImitatedTokenProvider.clientSecret,
                            api: DevelopmentIdentityProvider.baseURL(
                                of: preset.rawValue, api: api))))
            }
        }
        let anonymous = ProviderName(anonymous).map { name in
            ProviderConfiguration(
                name: name,
                settings: .anonymous(
                    AnonymousSettings(
                        budget: OpeningBudget(
                            networkLimit: developmentOpenings, tenantLimit: developmentOpenings))))
        }
        let configuration = TenantConfiguration(
            providers: providers + tokenProviders + [anonymous].compactMap(\.self),
            policy: limits.policy)
        return Dictionary(tenants.map { ($0, configuration) }) { first, _ in first }
    }
}
