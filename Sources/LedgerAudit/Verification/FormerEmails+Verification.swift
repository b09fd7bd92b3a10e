import Ledger
import LedgerPostgres
import Postgres

extension FormerEmails {
    /// Compares every digest with what the log still discloses, inside the open transaction.
    ///
    /// - Throws: `PostgresError`.
    func check(
        _ tenant: TenantID, _ report: inout VerificationReport, on connection: Connection
    ) throws(PostgresError) {
        for unlinked in try differing(tenant, on: connection).wrong {
            report.add(
                VerificationFinding(
                    tenant: tenant.description, position: unlinked.linkedPosition,
                    check: .identities,
                    text: "former_email of identity \(unlinked.identity) differs from the log")
            )
        }
    }
}
