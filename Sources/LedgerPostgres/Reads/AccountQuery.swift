import Ledger
import Postgres

/// The two statements of a coalesced read, sent in one trip.
///
/// The checkpoint is read before the rows, so the rows are at least as new as the checkpoint says;
/// also when another table is swapped in between, because both are at the same position then.
enum AccountQuery {
    private static let readCallers = Statement(
        "read_callers",
        """
        SELECT k.n,
               s.account_id IS NOT DISTINCT FROM k.account_id
                   AND s.ended_position IS NULL AND s.expires_at > statement_timestamp(),
               coalesce(p.position > a.last_position, false)
        FROM unnest($1::text[], $2::uuid[], $3::uuid[]) WITH ORDINALITY
             AS k (tenant_id, session_id, account_id, n)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE tenant_id = k.tenant_id AND session_id = k.session_id
            OFFSET 0) s
        CROSS JOIN LATERAL (
            SELECT last_position FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) a
        LEFT JOIN projections p ON p.tenant_id = k.tenant_id AND p.name = 'user_providers'
            AND p.generation = (SELECT generation FROM projection_tables
                WHERE name = 'user_providers' AND state = 'served')
        """)

    private static let readIdentities = Statement(
        "read_identities",
        """
        SELECT k.n, u.identity_id, u.provider, u.email, u.linked_at
        FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS k (tenant_id, user_id, n)
        CROSS JOIN LATERAL (
            SELECT * FROM user_providers
            WHERE tenant_id = k.tenant_id AND user_id = k.user_id
            OFFSET 0) u
        ORDER BY k.n, u.linked_position
        """)

    static func answers(
        to batch: [AccountReads.Pending], on connection: Connection
    ) throws -> [AccountReads.Answer] {
        // By closures: a path of several properties is followed at run time.
        let tenants = batch.map { $0.tenant.description }
        let accounts = batch.map { $0.caller.account.bits }
        let results = try connection.pipeline([
            Call(
                readCallers,
                [.texts(tenants), .uuids(batch.map { $0.caller.session.bits }), .uuids(accounts)]),
            Call(readIdentities, [.texts(tenants), .uuids(accounts)]),
        ])
        var identities = Array(repeating: [LinkedIdentity](), count: batch.count)
        var damaged: Set<Int> = []
        for row in 0..<results[1].rowCount {
            let index = Int(try results[1].int8(row, 0)) - 1
            guard let provider = ProviderName(try results[1].text(row, 2)) else {
                damaged.insert(index)
                continue
            }
            identities[index].append(
                LinkedIdentity(
                    id: IdentityID(bits: try results[1].uuid(row, 1)), provider: provider,
                    email: try results[1].optionalText(row, 3),
                    linkedAt: Timestamp(microseconds: try results[1].timestamp(row, 4))))
        }
        // A caller without a row has no session, or no account.
        var answers = Array(repeating: AccountReads.Answer.sessionEnded, count: batch.count)
        for row in 0..<results[0].rowCount {
            let index = Int(try results[0].int8(row, 0)) - 1
            guard try results[0].bool(row, 1) else { continue }
            if damaged.contains(index) {
                answers[index] = .damaged
            } else {
                answers[index] =
                    try results[0].bool(row, 2) ? .identities(identities[index]) : .behind
            }
        }
        return answers
    }
}
