import Ledger
import LedgerEngine
import Postgres

/// The deletion of the accounts that a batch erased.
///
/// Rows are deleted by a function of the schema's owner that requires an `AccountErased` in the
/// log: the runtime role may not delete them itself. It takes one tenant and throws for an account
/// that it does not delete.
enum ErasureWrites {
    private static let erase = Statement(
        "erase_accounts", "SELECT ledger_erase_accounts($1::text, $2::uuid[], $3::bigint[])")

    static func calls(for batches: [TenantBatch]) -> [Call] {
        batches.filter { !$0.changes.accountsErased.isEmpty }.map { batch in
            let erased = batch.changes.accountsErased
            return Call(
                erase,
                [
                    .text(batch.tenant.description), .uuids(erased.map(\.account.bits)),
                    .int8s(erased.map(\.position.value)),
                ])
        }
    }
}
