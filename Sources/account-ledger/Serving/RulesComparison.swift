import Ledger
import LedgerAPI
import LedgerPostgres
import Postgres
import Synchronization

/// Compares the recorded rules of tenants with those of the configuration, for readiness.
final class RulesComparison: Sendable {
    private static let namesMax = 20

    private struct State {
        /// The versions when the rules were last read.
        var versions: [TenantID: Int64]?
        /// The tenants whose rules differ, with their versions; 0 for none.
        var differing: [(tenant: TenantID, version: Int64)] = []
    }

    private let configured: [TenantID: TenantPolicy]
    private let state = Mutex(State())

    init(_ configured: [TenantID: TenantPolicy]) {
        self.configured = configured
    }

    /// Reads the versions, and the rules if a version has changed.
    ///
    /// Other tenants are served while one is not, so that the process is ready while it serves any.
    func check(on connection: Connection) throws -> Readiness.Check {
        let versions = try RecordedRules.versions(on: connection)
        if state.withLock(\.versions) != versions {
            let recorded = try RecordedRules.read(on: connection)
            let differing = configured.keys.sorted().compactMap {
                tenant -> (tenant: TenantID, version: Int64)? in
                recorded[tenant]?.policy == configured[tenant]
                    ? nil : (tenant: tenant, version: recorded[tenant]?.rulesVersion ?? 0)
            }
            state.withLock { $0 = State(versions: versions, differing: differing) }
        }
        let differing = state.withLock(\.differing)
        let names = differing.prefix(Self.namesMax)
            .map { "tenant \($0.tenant) has rules of version \($0.version)" }
        let more = differing.count > names.count ? ["\(differing.count - names.count) more"] : []
        return Readiness.Check(
            "rules", isReady: differing.isEmpty || differing.count < configured.count,
            detail: differing.isEmpty
                ? nil : "not as configured: " + (names + more).joined(separator: ", "))
    }
}
