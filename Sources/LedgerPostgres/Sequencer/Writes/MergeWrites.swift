import Ledger
import LedgerEngine
import Postgres

/// The writes of merges that a batch made or undid, and of accounts absorbed or released.
enum MergeWrites {
    private static let insertMerge = Statement(
        "insert_merge",
        """
        INSERT INTO merges (tenant_id, event_id, position, survivor_id, absorbed_id, moved, dropped,
            replaced, mac)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """)

    private static let deleteMerge = Statement(
        "delete_merge",
        """
        WITH gone AS (
            DELETE FROM merges
            WHERE tenant_id = $1::text AND survivor_id = $2::uuid AND event_id = $3::uuid
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'merges') FROM gone
        """)

    private static let setMerged = Statement(
        "set_merged",
        """
        WITH written AS (
            UPDATE accounts SET merged_into = $3::uuid
            WHERE tenant_id = $1::text AND account_id = $2::uuid
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'accounts merged') FROM written
        """)

    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func calls(for batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var calls: [Call] = []
        for batch in batches {
            let tenant = Parameter.text(batch.tenant.description)
            let undone = Set(batch.changes.mergesUndone.map(\.merge))
            let made = Set(batch.changes.mergesMade.map(\.id))
            // Deletions come first to avoid a conflict: at most one account absorbs another.
            calls += batch.changes.mergesUndone.filter { !made.contains($0.merge) }.map {
                Call(deleteMerge, [tenant, .uuid($0.survivor.bits), .uuid($0.merge.bits)])
            }
            for merge in batch.changes.mergesMade where !undone.contains(merge.id) {
                calls.append(try insert(merge, of: batch))
            }
            calls += batch.changes.accountsMerged.compactMap { account in
                batch.state.ledger.accounts[account].map {
                    Call(
                        setMerged,
                        [
                            tenant, .uuid(account.bits),
                            $0.mergedInto.map { .uuid($0.bits) } ?? .null,
                        ])
                }
            }
        }
        return calls
    }

    private static func insert(_ merge: Merge, of batch: TenantBatch) throws(BatchFault) -> Call {
        Call(
            insertMerge,
            [
                .text(batch.tenant.description), .uuid(merge.id.bits), .int8(merge.position.value),
                .uuid(merge.survivor.bits), .uuid(merge.absorbed.bits),
                .uuids(merge.moved.map(\.bits)), .uuids(merge.dropped.map(\.bits)),
                .uuids(merge.replaced.map(\.bits)),
                .bytes(try batch.macs.mac(of: .merge(merge, of: batch.tenant))),
            ])
    }
}
