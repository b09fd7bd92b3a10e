import Ledger
import LedgerEngine
import Postgres

/// The deletion of the accounts that a batch erased.
///
/// Rows are deleted by a function of the schema's owner that requires an `AccountErased` in the
/// log: the runtime role may not delete them itself.
enum ErasureWrites {
    private static let erase = Statement(
        "erase_accounts",
        """
        SELECT ledger_expect(
            ledger_erase_accounts($1::text[], $2::uuid[], $3::bigint[]), $4::bigint,
            'accounts erased')
        """)

    static func calls(for batches: [TenantBatch]) -> [Call] {
        var tenants: [String] = []
        var accounts: [UInt128] = []
        var positions: [Int64] = []
        for batch in batches {
            for erased in batch.changes.accountsErased {
                tenants.append(batch.tenant.description)
                accounts.append(erased.account.bits)
                positions.append(erased.position.value)
            }
        }
        guard !accounts.isEmpty else { return [] }
        return [
            Call(
                erase,
                [
                    .texts(tenants), .uuids(accounts), .int8s(positions),
                    .int8(Int64(accounts.count)),
                ])
        ]
    }
}
