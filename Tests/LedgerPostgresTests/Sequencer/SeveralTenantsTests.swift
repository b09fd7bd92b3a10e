import Cryptography
import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Work over all tenants, which is one statement for each of them.
@Suite struct SeveralTenantsTests {
    @Test func `a sweep deletes the expired answers and tokens of every tenant, and no others`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute(
                """
                INSERT INTO idempotency_records (tenant_id, account_id, scope, fingerprint, answer,
                    answered_at, key_id)
                SELECT t, gen_random_uuid(), sha256(n::text::bytea), sha256(''), 'an answer',
                    now() - make_interval(hours => 20 + n), 'test'
                FROM unnest('{a,b,c}'::text[]) AS t, generate_series(1, 8) AS n;
                INSERT INTO spent_id_tokens (tenant_id, digest, first_used_at, expires_at)
                SELECT t, sha256(n::text::bytea), now(), now() - make_interval(mins => 20 * n)
                FROM unnest('{a,b}'::text[]) AS t, generate_series(1, 5) AS n
                """)
            let sweeper = Sweeper(url: database.runtimeURL) { Issue.record("\($0)") }
            // Of each tenant the answers of 24 hours and more, and the tokens that expired over an hour ago.
            #expect(try await sweeper.sweep() == 3 * 5 + 2 * 3)
            #expect(try await sweeper.sweep() == 0)
            #expect(
                try await database.asSuperuser.texts(
                    """
                    SELECT tenant_id || count(*) FROM idempotency_records GROUP BY tenant_id
                    ORDER BY tenant_id
                    """) == ["a3", "b3", "c3"])
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT tenant_id || count(*) FROM spent_id_tokens GROUP BY tenant_id ORDER BY 1"
                )
                    == ["a2", "b2"])
        }
    }

    @Test func `the keys of every tenant's accounts are rewrapped and counted`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                for name in ["default", "acme", "beta"] {
                    let tenant = tenant(name)
                    if tenant != .default { try await fixture.open(tenant) }
                    var story = Story(fixture.sequencer, tenant: tenant, seed: 7)
                    _ = try await story.signIn("apple", "ada")
                    _ = try await story.signIn("apple", "bob")
                }
            }
            let former = SymmetricKey(Array(repeating: 0x5A, count: 32))
            let next = SymmetricKey(Array(repeating: 0x5B, count: 32))
            let both = WrappingKeyring(
                currentID: "next", current: next, former: ["test": former],
                macs: SequencerFixture.keyring.macs)
            let report = try await Rewrapping(url: database.ownerURL, keyring: both) { _, _, _ in []
            }
            .run()
            #expect(report.rewrapped(.accountKeys) == 6 && report.isComplete)
            #expect(
                try await database.asSuperuser.texts(
                    "SELECT DISTINCT wrapping_key FROM account_keys")
                    == ["next"])
        }
    }
}
