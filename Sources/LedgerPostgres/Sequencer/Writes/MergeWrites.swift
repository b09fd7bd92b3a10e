import Ledger
import Postgres

/// The merges that a batch made or took back, and the accounts that stand for others.
enum MergeWrites {
    private static let insertMerge = Statement(
        "insert_merge",
        """
        INSERT INTO merges (tenant_id, event_id, position, survivor_id, absorbed_id, moved, dropped,
            replaced)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
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

    static func calls(for batches: [TenantBatch]) -> [Call] {
        batches.flatMap { batch in
            let tenant = Parameter.text(batch.tenant.description)
            let undone = Set(batch.changes.mergesUndone.map(\.merge))
            let made = Set(batch.changes.mergesMade.map(\.id))
            // What goes makes room for what comes: an account is absorbed by one other at most.
            return batch.changes.mergesUndone.filter { !made.contains($0.merge) }.map {
                Call(deleteMerge, [tenant, .uuid($0.survivor.bits), .uuid($0.merge.bits)])
            }
                + batch.changes.mergesMade.filter { !undone.contains($0.id) }.map {
                    insert($0, tenant)
                }
                + batch.changes.accountsMerged.compactMap { account in
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
    }

    private static func insert(_ merge: Merge, _ tenant: Parameter) -> Call {
        Call(
            insertMerge,
            [
                tenant, .uuid(merge.id.bits), .int8(merge.position.value),
                .uuid(merge.survivor.bits), .uuid(merge.absorbed.bits),
                .uuids(merge.moved.map(\.bits)), .uuids(merge.dropped.map(\.bits)),
                .uuids(merge.replaced.map(\.bits)),
            ])
    }
}
