import Cryptography
import Foundation
import Ledger
import LedgerAPI

/// Which providers each tenant has: those of the file, or the two of development.
enum TenantSetup {
    /// Reads the file of `LEDGER_PROVIDERS`.
    ///
    /// - Throws: `Fault` with one line that names the place in the file.
    static func read(
        path: String, limits: PolicyLimits
    ) throws(Fault) -> [TenantID: TenantConfiguration] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Fault("\(Setting.providers.name): the file can't be read")
        }
        do throws(ProvidersFileFault) {
            return try ProvidersFile.parse(Array(data), policy: limits.policy)
        } catch {
            throw Fault("\(Setting.providers.name): \(error)")
        }
    }

    /// The same for each tenant: the providers that the development identity provider plays.
    static func development(
        _ played: [PlayedProvider], api: String, tenants: some Sequence<TenantID>,
        limits: PolicyLimits
    ) -> [TenantID: TenantConfiguration] {
        let providers = played.compactMap { provider in
            ProviderName(provider.name).map { name in
                ProviderConfiguration(
                    name: name,
                    check: IDTokenPolicy(
                        issuers: [provider.issuer], audiences: [TokenRequest.audienceByDefault],
                        algorithms: [.rs256], nonce: provider.nonce),
                    keys: KeySetCache(
                        url: DevelopmentIdentityProvider.keySetURL(of: provider.name, api: api)))
            }
        }
        let configuration = TenantConfiguration(providers: providers, policy: limits.policy)
        return Dictionary(tenants.map { ($0, configuration) }) { first, _ in first }
    }
}
