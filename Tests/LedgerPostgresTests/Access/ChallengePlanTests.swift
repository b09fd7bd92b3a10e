import Cryptography
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The plans of what a sign-in by code or password reads, which are made while the tables are empty.
@Suite struct ChallengePlanTests {
    private static let now = Timestamp(seconds: 4_000_000_000)

    /// Of this transaction, so that other reads do not count.
    private static let rowsRead = Statement(
        "rows_read",
        """
        SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint
        FROM pg_stat_xact_user_tables
        WHERE relname IN ('accounts', 'addresses', 'challenges', 'code_counts', 'credentials')
        """)

    private static let rows = """
        INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest, key_id,
            sealed, wrapping_key, expires_at)
        SELECT 'default', lpad(n::text, 32, '0')::uuid, 'email', sha256('a'), sha256('b'), 'key',
            'sealed', 'key', '2099-01-01' FROM generate_series(1, 2000) n;
        INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id, position)
        SELECT 'default', lpad(n::text, 32, '0')::uuid, 'email', sha256(n::text::bytea), 'key',
            lpad(n::text, 32, '0')::uuid, n FROM generate_series(1, 2000) n;
        INSERT INTO accounts (tenant_id, account_id, opened_position, next_seq, last_leaf,
            last_position)
        SELECT 'default', lpad(n::text, 32, '0')::uuid, n, 1, sha256('a'), n
        FROM generate_series(1, 2000) n;
        INSERT INTO credentials (tenant_id, identity_id, account_id, version, sealed, wrapping_key)
        SELECT 'default', lpad(n::text, 32, '0')::uuid, lpad(n::text, 32, '0')::uuid, n, 'sealed',
            'key' FROM generate_series(1, 2000) n;
        INSERT INTO code_counts (tenant_id, scope, count, ends_at)
        SELECT 'default', sha256(n::text::bytea), 1, '2099-01-01' FROM generate_series(1, 2000) n
        ON CONFLICT (tenant_id, scope) DO UPDATE SET count = 1
        """

    /// Counts a try and two scopes, subtracts these, reads and ends the device tokens of an account, and loads an
    /// address, a password and a challenge.
    ///
    /// - Returns: The number of rows that were read.
    private func read(on connection: Connection, isFilled: Bool) throws -> Int64 {
        let tries = [
            ChallengeTry(challenge: ChallengeID(bits: 7), tenant: .default, now: Self.now) { _ in
                ComparedCode(isRight: true, counts: [])
            }
        ]
        let counting = CodeCounting(
            counts: ["7", "8"].map { CodeCount(scope: sha256(Array($0.utf8)), limit: 100) },
            tenant: .default, now: Self.now)
        return try connection.transaction {
            _ = try ChallengeTry.count(
                tries, keyring: SequencerFixture.keyring, on: connection)
            _ = try CodeCounting.reached([counting], on: connection)
            _ = try CodeCounting.add([counting], on: connection)
            try CodeCounting.subtract([counting], on: connection)
            let name = AddressName(kind: .email, digest: sha256(Array("7".utf8)), key: "key")
            let account = AccountID(bits: 7)
            _ = try connection.pipeline([
                DeviceEnds.last(of: [name], account, in: .default),
                DeviceEnds.ending(of: [account], in: .default, at: Self.now),
            ])
            let loads = [
                AddressLoad.call(
                    [
                        BatchKeys.ProvedName(
                            name: name, provider: RandomCommands.email, endsClaim: false)
                    ],
                    of: .default, windowSeconds: 3_600),
                PasswordLoad.call([IdentityID(bits: 7)], of: .default),
                ChallengeRows.load([ChallengeID(bits: 7)], of: .default),
            ]
            let loaded = try connection.pipeline(loads)
            #expect(loaded.map(\.rowCount) == (isFilled ? [1, 1, 1] : [0, 0, 0]))
            return try connection.query(Self.rowsRead).int8(0, 0)
        }
    }

    @Test func `they read no rows but their own`() async throws {
        try await ScratchDatabase.with { database in
            let connection = try Connection(url: database.runtimeURL, applicationName: "test")
            try connection.execute(PostgresBatchStore.settings)
            _ = try read(on: connection, isFilled: false)
            try await database.asSuperuser.execute(Self.rows)
            #expect(try read(on: connection, isFilled: true) <= 30)
            #expect(
                try await database.rows("tries::text]) FROM challenges WHERE tries > 0") == ["1"])
            #expect(
                try await database.rows("count(*)::text]) FROM code_counts WHERE count <> 1")
                    == ["0"])
            connection.close()
        }
    }
}
