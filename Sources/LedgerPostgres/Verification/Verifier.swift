package import Ledger
import Postgres

/// Checks that the log is sound and that everything kept beside it is what the log says.
///
/// Folds the whole log of each tenant with the pure model, in one snapshot, while the ledger goes
/// on. Damage is reported and never ends the verification: only the database being away does.
package struct Verifier: Sendable {
    private static let tables = [
        "ledger_head", "events", "disclosures", "account_keys", "accounts", "identities",
        "sessions",
        "projections", "user_providers", "account_audit",
    ]

    private static let begin = Statement(
        "verify_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private let session: Postgres.Session
    private let disclosures: DisclosureReader?

    /// Describes where the ledger is.
    ///
    /// - Parameters:
    ///   - url: of a role that may read every table.
    ///   - keyring: unwraps the keys of accounts; nil leaves disclosures and personal columns
    ///     unchecked.
    package init(url: String, keyring: WrappingKeyring?) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        session = Postgres.Session(
            url: url, applicationName: "account-ledger verify", statementDeadline: .seconds(3600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Verifies one tenant, or all that any table names.
    ///
    /// `progress` is called every `VerificationProgress.eventsPerReport` events.
    /// - Throws: `PostgresError` when the database is away or refuses.
    package func run(
        tenant: TenantID? = nil,
        progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await session.run { connection in
            var report = VerificationReport()
            report.opensDisclosures = self.disclosures != nil
            let names = try tenant.map { [$0.description] } ?? Self.tenants(on: connection)
            for name in names {
                report.tenants += 1
                guard let tenant = TenantID(name) else {
                    report.add(
                        VerificationFinding(
                            tenant: "?", position: nil, check: .head,
                            text: "a table names a tenant that can be none"))
                    continue
                }
                report = try connection.transaction(Self.begin) {
                    var verification = TenantVerification(
                        tenant, report: report, disclosures: self.disclosures, progress: progress)
                    try verification.run(on: connection)
                    return verification.report
                }
            }
            return report
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Every tenant that any table names, found by one index probe a tenant and table.
    private static func tenants(on connection: Connection) throws(PostgresError) -> [String] {
        var names: Set<String> = []
        for table in tables {
            let result = try connection.query(
                Statement(
                    "verify_tenants_\(table)",
                    """
                    WITH RECURSIVE t (tenant_id) AS (
                        (SELECT tenant_id FROM \(table) ORDER BY tenant_id LIMIT 1)
                        UNION ALL
                        SELECT (SELECT n.tenant_id FROM \(table) n WHERE n.tenant_id > t.tenant_id
                            ORDER BY n.tenant_id LIMIT 1)
                        FROM t WHERE t.tenant_id IS NOT NULL)
                    SELECT tenant_id FROM t WHERE tenant_id IS NOT NULL
                    """))
            for row in 0..<result.rowCount {
                names.insert(try result.text(row, 0))
            }
        }
        return names.sorted()
    }
}
