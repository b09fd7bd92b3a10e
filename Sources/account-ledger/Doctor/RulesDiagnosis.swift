import CommandLine
import Ledger
import LedgerPostgres

/// The check of `doctor` that compares the configuration with the tenants' rules.
enum RulesDiagnosis {
    /// Compares the rules of every configured tenant.
    static func all(
        _ configuration: ServeConfiguration, _ environment: Environment
    ) -> [Diagnosis] {
        do {
            let url = configuration.databaseURL
            let opened = try TenantOpenings.read(url: url).tenants
            let configured = try RulesSetup.all(environment, of: opened)
            let recorded = try SchemaCheck.withConnection(to: url) {
                try RecordedRules.read(on: $0)
            }
            let found = configured.sorted { $0.key < $1.key }.compactMap {
                diagnosis(of: $0.key, $0.value, recorded[$0.key], exists: opened.contains($0.key))
            }
            return found.isEmpty ? [.good("rules", "are those of the configuration")] : found
        } catch {
            return [.problem("rules", "\(error)", "see docs/rules.md")]
        }
    }

    private static func diagnosis(
        of tenant: TenantID, _ policy: TenantPolicy, _ recorded: Result<RulesSet, any Error>?,
        exists: Bool
    ) -> Diagnosis? {
        switch recorded {
        case .success(let rules) where rules.policy == policy: nil
        case .success:
            .problem(
                "rules", "tenant \(tenant) has others than the configuration",
                "run \(Syntax.program) rules check, then rules set: docs/rules.md")
        case .failure:
            .problem(
                "rules", "those of tenant \(tenant) are damaged", "run \(Syntax.program) verify")
        case nil where exists || tenant == .default:
            .warning("rules", "tenant \(tenant) has none yet", "serve records them at its start")
        case nil:
            .problem(
                "rules", "tenant \(tenant) does not exist",
                "run \(Syntax.program) tenant create \(tenant)")
        }
    }
}
