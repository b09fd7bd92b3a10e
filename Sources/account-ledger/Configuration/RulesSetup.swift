import CommandLine
import Ledger
import LedgerSignIn

/// The configured rules of tenants, for subcommands that do not serve.
enum RulesSetup {
    /// Returns the configured rules of a tenant; nil if the providers file does not name it.
    ///
    /// - Throws: `Fault` when the environment does not set them.
    static func rules(
        of tenant: TenantID, _ environment: Environment
    ) throws(Fault) -> TenantPolicy? {
        try all(environment, of: [tenant])[tenant]
    }

    /// Returns the configured rules of tenants: those of the providers file, or in development without one
    /// the same for each of the given tenants.
    ///
    /// - Throws: `Fault` when the environment does not set them.
    static func all(
        _ environment: Environment, of tenants: some Sequence<TenantID>
    ) throws(Fault) -> [TenantID: TenantPolicy] {
        let limits = try PolicyLimits(environment)
        if let path = environment.given(.providers) {
            return try TenantSetup.read(path: path, limits: limits).mapValues(\.policy)
        }
        guard try environment.mode == .development else {
            throw Fault("\(Setting.providers.name) is not set: \(Setting.providers.meaning)")
        }
        var policy = limits.policy
        policy.providers = TenantSetup.developmentPins
        return Dictionary(tenants.map { ($0, policy) }) { first, _ in first }
    }
}
