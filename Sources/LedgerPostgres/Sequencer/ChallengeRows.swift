import Ledger
import LedgerEngine
import Postgres

/// The challenges that proofs of a batch answer.
///
/// They are read and deleted under the lock of the tenant's head, so that each is used once.
enum ChallengeRows {
    private static let list: SelectList = ["c.challenge_id"]

    private static let loading = Statement(
        "load_challenges",
        """
        SELECT \(list.sql)
        FROM unnest($2::uuid[]) AS k (challenge_id)
        CROSS JOIN LATERAL (
            SELECT challenge_id FROM challenges
            WHERE tenant_id = $1 AND challenge_id = k.challenge_id
                AND expires_at > statement_timestamp()
            OFFSET 0) c
        """)

    private static let delete = Statement(
        "delete_challenge", "DELETE FROM challenges WHERE tenant_id = $1 AND challenge_id = $2")

    static func load(_ challenges: [ChallengeID], of tenant: TenantID) -> Call {
        Call(loading, [.text(tenant.description), .uuids(challenges.map(\.bits))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            batch.state.openChallenges.insert(
                ChallengeID(bits: try result.uuid(row, list["c.challenge_id"])))
        }
    }

    static func calls(for batches: [TenantBatch]) -> [Call] {
        batches.flatMap { batch in
            batch.changes.challengesSpent.map {
                Call(delete, [.text(batch.tenant.description), .uuid($0.bits)])
            }
        }
    }
}
