import LedgerTestSupport
import Postgres

/// Checks whether the tables and the log agree on accounts that may have been merged.
struct MergeOracle: Sendable {
    // accounts[0] of an entry of either kind is the survivor, accounts[1] the absorbed account.
    private static let contradictions = Statement(
        "merge_contradictions",
        """
        WITH mine AS (SELECT * FROM accounts
            WHERE tenant_id = 'default' AND account_id::text = ANY ($1::text[])),
        told AS (
            SELECT type, position, x.entry->'accounts'->0->>'id' AS survivor,
                x.entry->'accounts'->1->>'id' AS absorbed
            FROM events CROSS JOIN LATERAL (SELECT convert_from(events.entry, 'UTF8')::jsonb) x (entry)
            WHERE tenant_id = 'default' AND type IN ('AccountsMerged', 'AccountsUnmerged'))
        SELECT 'nobody can sign in to ' || account_id FROM mine
        WHERE merged_into IS NULL
            AND NOT EXISTS (
                SELECT FROM identities i
                WHERE i.tenant_id = 'default' AND i.account_id = mine.account_id)
        UNION ALL
        SELECT 'was absorbed and has identities: ' || account_id FROM mine
        WHERE merged_into IS NOT NULL
            AND EXISTS (
                SELECT FROM identities i
                WHERE i.tenant_id = 'default' AND i.account_id = mine.account_id)
        UNION ALL
        SELECT 'was absorbed and has a live session: ' || account_id FROM mine
        WHERE merged_into IS NOT NULL
            AND EXISTS (
                SELECT FROM sessions s
                WHERE s.tenant_id = 'default' AND s.account_id = mine.account_id
                    AND s.ended_position IS NULL)
        UNION ALL
        SELECT 'has not one merge: ' || account_id FROM mine
        WHERE (
                SELECT count(*) FROM merges m
                WHERE m.tenant_id = 'default' AND m.absorbed_id = mine.account_id)
            <> (merged_into IS NOT NULL)::int
        UNION ALL
        SELECT 'is merged into another one than its merge says: ' || mine.account_id
        FROM mine JOIN merges m ON m.tenant_id = 'default' AND m.absorbed_id = mine.account_id
        WHERE m.survivor_id IS DISTINCT FROM mine.merged_into
        UNION ALL
        SELECT 'the log says otherwise of ' || account_id FROM mine
        WHERE merged_into::text IS DISTINCT FROM (
            SELECT CASE type WHEN 'AccountsMerged' THEN survivor END FROM told
            WHERE absorbed = mine.account_id::text ORDER BY position DESC LIMIT 1)
        UNION ALL
        SELECT 'belongs to an account that another one stands for: ' || i.identity_id
        FROM identities i JOIN accounts a USING (tenant_id, account_id)
        WHERE i.tenant_id = 'default' AND a.tenant_id = 'default'
            AND i.provider_id = ANY ($2::text[]) AND a.merged_into IS NOT NULL
        UNION ALL
        SELECT 'has two rows: ' || min(identity_id::text) FROM identities
        WHERE tenant_id = 'default' AND provider_id = ANY ($2::text[])
        GROUP BY provider, provider_id HAVING count(*) > 1
        """)

    private let session: Session

    init(_ deployment: Deployment) {
        session = Session(url: deployment.superuserURL, applicationName: "merge oracle")
    }

    /// Returns the contradictions; empty without any.
    func contradictions(
        accounts: [Device], subjects: [String]
    ) async throws -> [String] {
        let ids = accounts.map(\.userID)
        return try await session.run { connection in
            let rows = try connection.query(
                Self.contradictions,
                [.texts(ids), .texts(subjects)])
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }
        }
    }

    /// Returns the number of events of a type.
    func count(_ type: String) async throws -> Int {
        try await session.run { connection in
            Int(
                try connection.query(
                    Statement("count_events", "SELECT count(*) FROM events WHERE type = $1"),
                    [.text(type)]
                ).int8(0, 0))
        }
    }

    /// The names of all events of a type.
    func events(_ type: String) async throws -> Set<String> {
        try await session.run { connection in
            let rows = try connection.query(
                Statement("list_events", "SELECT event_id::text FROM events WHERE type = $1"),
                [.text(type)])
            return Set(try (0..<rows.rowCount).map { try rows.text($0, 0) })
        }
    }

    func close() async {
        await session.close()
    }
}
