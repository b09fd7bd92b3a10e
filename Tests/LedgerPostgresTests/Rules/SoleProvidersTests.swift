import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The search for accounts that a change of rules locks out, which runs under the head's lock.
@Suite struct SoleProvidersTests {
    private static let accounts: Int64 = 2_000

    /// Of this transaction, so that other reads do not count.
    private static let rowsRead = Statement(
        "rows_read",
        """
        SELECT (coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint FROM pg_stat_xact_user_tables
        WHERE relname = 'identities'
        """)

    private static let prepared = Statement(
        "prepared",
        "SELECT name FROM pg_prepared_statements WHERE name LIKE '%\\_load\\_sole\\_providers'")

    private static var policy: TenantPolicy {
        var policy = SequencerFixture.unlimitedPolicy
        policy.providers = Dictionary(
            uniqueKeysWithValues: ["apple", "google", "microsoft"].map {
                (provider($0), ProviderPin(type: .oidc, issuers: ["https://\($0).example"]))
            })
        return policy
    }

    @Test(arguments: [false, true])
    func `the removal of a provider reads the identities of each of its accounts once`(
        isPlannedEmpty: Bool
    ) async throws {
        try await Self.with { database, session in
            var fewer = Self.policy
            fewer.providers[provider("apple")] = nil
            if isPlannedEmpty { _ = try await Self.load(fewer, session) }
            try await database.asSuperuser.execute(
                Self.identities + (isPlannedEmpty ? "" : "; ANALYZE identities"))
            let safe = try await Self.load(fewer, session)
            #expect(safe.sole == [])
            #expect(safe.rows <= 3 * Self.accounts, "an identity, and the two of its account")
            let plan = try await session.run { connection in
                let name = try connection.query(Self.prepared).text(0, 0)
                let lines = try connection.query(
                    Statement(
                        "plan", "EXPLAIN EXECUTE \(name)('default', '{apple}', '{google}', '{}')"))
                return try (0..<lines.rowCount).map { try lines.text($0, 0) }.joined()
            }
            #expect(
                plan.contains("identities_by_last_account") && !plan.contains("Join"), "\(plan)")
            try await database.asSuperuser.execute(
                """
                UPDATE identities SET account_id = NULL
                WHERE provider = 'google' AND provider_id = '\(Self.accounts)'
                """)
            #expect(try await Self.load(fewer, session).sole == [provider("apple")])
        }
    }

    @Test func `a lost phone number is no other way of an account, and listed with it`()
        async throws
    {
        try await Self.with { database, session in
            var fewer = Self.policy
            fewer.providers[provider("google")] = ProviderPin(type: .phone, issuers: [])
            fewer.providers[provider("apple")] = nil
            let (new, former) = (fewer, Self.policy)
            func lockedOut() async throws -> Int64 {
                try await session.run {
                    try RecordedRules.accounts(
                        of: .default, lockedOutBy: new, since: former, limit: 1, on: $0
                    ).count
                }
            }
            // Each account has a number, and one of them a number that has no row.
            try await database.asSuperuser.execute(
                """
                \(Self.identities);
                UPDATE identities SET provider_id = identity_id::text WHERE provider = 'google';
                INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id,
                    position)
                SELECT 'default', identity_id, 'phone', sha256(provider_id::bytea), 'key',
                    account_id, 1
                FROM identities WHERE provider = 'google'
                """)
            #expect(try await Self.load(new, session).sole == [])
            #expect(try await lockedOut() == 0)
            try await database.asSuperuser.execute(
                """
                DELETE FROM addresses WHERE account_id =
                    (SELECT account_id FROM identities WHERE provider_id = '1')
                """)
            #expect(try await Self.load(new, session).sole == [provider("apple")])
            #expect(try await lockedOut() == 1)
        }
    }

    @Test func `a change of a number, and the removal of an unused provider, read no identities`()
        async throws
    {
        try await Self.with { database, session in
            try await database.asSuperuser.execute(Self.identities)
            var changed = Self.policy
            changed.reauthenticationSeconds += 1
            #expect(try await Self.load(changed, session).rows == 0)
            changed.providers[provider("microsoft")] = nil
            #expect(try await Self.load(changed, session).rows == 0)
        }
    }

    // MARK: Support

    /// Accounts that each have an identity of two providers.
    private static let identities = """
        INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
            last_account_id, linked_at, linked_position)
        SELECT 'default', provider, n::text, gen_random_uuid(), id, id, now(), n
        FROM generate_series(1, \(accounts)) AS n,
            LATERAL (SELECT md5(n::text)::uuid AS id) AS account,
            unnest(ARRAY['apple', 'google']) AS provider
        """

    private static func with(
        _ body: (ScratchDatabase, Postgres.Session) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let session = Postgres.Session(url: database.runtimeURL, applicationName: "a test") {
                try $0.execute(PostgresBatchStore.settings)
            }
            try await body(database, session)
            await session.close()
        }
    }

    /// Loads what the decision about new rules needs, and returns the number of identities read.
    private static func load(
        _ new: TenantPolicy, _ session: Postgres.Session
    ) async throws -> (sole: Set<ProviderName>, rows: Int64) {
        try await session.run { connection in
            try connection.transaction {
                let batch = TenantBatch(
                    tenant: .default, firstPosition: LogPosition(5),
                    lastRecordedAt: Timestamp(seconds: 0), keyring: SequencerFixture.keyring)
                batch.state.ledger.load(try #require(RulesSet(version: 1, policy: policy)))
                batch.state.usedProviders = [provider("apple"), provider("google")]
                try RulesLoad.loadSoleProviders(
                    for: [(tenant: .default, request: SetRules(new, condition: .withoutLockOuts))],
                    into: [.default: batch], on: connection)
                return (
                    sole: batch.state.soleProviders,
                    rows: try connection.query(rowsRead).int8(0, 0)
                )
            }
        }
    }
}
