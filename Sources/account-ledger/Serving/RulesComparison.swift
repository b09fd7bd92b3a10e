import CommandLine
import Ledger
import LedgerAPI
import LedgerPostgres
import Postgres
import Synchronization

/// Compares the recorded rules of tenants with those of the configuration, for readiness.
final class RulesComparison: Sendable {
    private static let namesMax = 20

    private struct State {
        /// The versions when the rules were last read; nil if they have to be read again.
        var versions: [String: Int64]?
        /// A line about each tenant whose rules differ or are damaged.
        var differing: [String] = []
    }

    private let configured: [TenantID: TenantPolicy]
    private let state = Mutex(State())

    init(_ configured: [TenantID: TenantPolicy]) {
        self.configured = configured
    }

    /// Reads the versions, and the rules if a version has changed or a row was damaged.
    ///
    /// Other tenants are served while one is not, so that the process is ready while it serves any.
    func check(on connection: Connection) throws -> Readiness.Check {
        let versions = try RecordedRules.versions(on: connection)
        if state.withLock(\.versions) != versions {
            let recorded = try RecordedRules.read(on: connection)
            var (differing, isDamaged) = ([String](), false)
            for (tenant, policy) in configured.sorted(by: { $0.key < $1.key }) {
                switch recorded[tenant] {
                case .success(let rules) where rules.policy == policy: break
                case .success(let rules):
                    differing.append("tenant \(tenant) has rules of version \(rules.rulesVersion)")
                case .failure:
                    isDamaged = true
                    differing.append("tenant \(tenant) has damaged rules")
                case nil: differing.append("tenant \(tenant) has no rules")
                }
            }
            state.withLock { [differing, isDamaged] in
                $0 = State(versions: isDamaged ? nil : versions, differing: differing)
            }
        }
        let differing = state.withLock(\.differing)
        let strays = versions.keys.filter { TenantID($0) == nil }.sorted().map {
            "a row names the invalid tenant \(Arguments.quoted($0))"
        }
        let all = differing + strays
        let names = all.prefix(Self.namesMax)
        let more = all.count > names.count ? ["\(all.count - names.count) more"] : []
        return Readiness.Check(
            "rules", isReady: differing.isEmpty || differing.count < configured.count,
            detail: all.isEmpty
                ? nil : "not as configured: " + (names + more).joined(separator: ", "))
    }
}
