import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Erasures reach every column that the catalogue calls personal.
@Suite struct CatalogueErasureTests {
    @Test func `an erasure reaches every personal column of the account`() async throws {
        try await ErasureFixture.with { fixture in
            let ada = fixture.ada.account
            try await fixture.database.asSuperuser.execute(
                """
                UPDATE identities SET former_email = sha256('ada')
                WHERE last_account_id = '\(ada)' AND account_id IS NULL;
                INSERT INTO idempotency_records (tenant_id, account_id, scope, fingerprint, answer,
                    answered_at)
                VALUES ('default', '\(ada)', sha256('scope'), sha256('body'), 'x', now());
                INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id,
                    position)
                VALUES ('default', gen_random_uuid(), 'email', sha256('ada'), 'key', '\(ada)', 1);
                INSERT INTO names (tenant_id, source, external_id, account_id, position)
                VALUES ('default', 'auth0', 'ada', '\(ada)', 1);
                INSERT INTO credentials (tenant_id, identity_id, account_id, version, sealed,
                    wrapping_key)
                VALUES ('default', gen_random_uuid(), '\(ada)', 1, 'hash', 'key');
                INSERT INTO factors (tenant_id, factor_id, account_id, kind, version, sealed,
                    wrapping_key, counter, credential)
                VALUES ('default', gen_random_uuid(), '\(ada)', 'totp', 1, 'secret', 'key', 1, 'x');
                INSERT INTO erasure_requests (tenant_id, account_id, request_id, principal, plan, basis,
                    reason, asked_at, expires_at)
                VALUES ('default', '\(ada)', gen_random_uuid(), 'staff:x', 'plan', 'retention',
                    'case 1', now(), now());
                INSERT INTO identity_names (tenant_id, identity_id, account_id, name)
                VALUES ('default', gen_random_uuid(), '\(ada)', 'phone');
                INSERT INTO conflict_reviews (tenant_id, first_position, last_position, caller_id, note,
                    principal, reviewed_at)
                VALUES ('default', 1, 1, '\(ada)', 'looked at', 'api_key:x', now());
                INSERT INTO messages (tenant_id, message_id, account_id, channel, template, language,
                    wrapping_key, sealed, recipient_key, recipient_digest, created_at, expires_at,
                    next_attempt_at)
                SELECT 'default', gen_random_uuid(), a, 'email', 'new_device', 'en', 'test', 'x',
                    'test', r, now(), now(), now()
                FROM (VALUES ('\(ada)'::uuid, sha256('ada')), (NULL, sha256('ada')),
                    (NULL, sha256('eve'))) AS k (a, r)
                """)
            let personal = Catalogue.tables.flatMap { table in
                table.columns(.personal).map { "\(table.name).\($0)" }
            }
            let before = try await filled(of: "\(ada)", in: fixture)
            #expect(before == personal, "columns that this test does not fill")
            // The planner's samples outlive an erasure.
            try await fixture.database.asSuperuser.execute("ANALYZE")
            let sampled = try await fixture.database.asSuperuser.texts(
                """
                SELECT regexp_replace(tablename, '_[0-9]+$', '') || '.' || attname FROM pg_stats
                WHERE schemaname = 'public'
                """)
            #expect(sampled.count > 50)
            #expect(Set(sampled).intersection(personal) == [])
            var story = fixture.story
            try await story.erase(ada)
            try await fixture.settle()
            #expect(try await filled(of: "\(ada)", in: fixture) == [])
            // Messages that name no account are hers if they went to her address.
            let others =
                "SELECT count(*)::text FROM messages WHERE recipient_digest = sha256('eve')"
            #expect(try await fixture.database.asSuperuser.texts(others) == ["1"])
            let all = try await fixture.database.asSuperuser.texts("SELECT 'x' FROM messages")
            #expect(all.count == 1)
        }
    }

    /// Returns the personal columns that have a value in a row of an account.
    private func filled(of account: String, in fixture: ErasureFixture) async throws -> [String] {
        var filled: [String] = []
        for table in Catalogue.tables {
            for column in table.columns(.personal) {
                let owner = try #require(table.columns(.account).first, "\(table.name)")
                filled += try await fixture.database.asSuperuser.texts(
                    """
                    SELECT '\(table.name).\(column)' WHERE EXISTS (
                        SELECT FROM \(table.name)
                        WHERE \(owner) = '\(account)' AND \(column) IS NOT NULL)
                    """)
            }
        }
        return filled
    }
}
