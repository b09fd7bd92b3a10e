import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

@Suite struct `Attempts in an account's row` {
    private static let digest = Digest(Array(0..<32))
    private static let provider = ProviderName("google")

    private static func attempts() throws -> [DecisionState.Attempt: Timestamp] {
        let digest = try #require(digest)
        let provider = try #require(provider)
        let linked = DecisionState.Attempt(
            action: .link, provider: provider, digest: digest,
            outcome: "accepted:2026-11-21T01:02:03.000004Z")
        let refused = DecisionState.Attempt(
            action: .unlink, provider: provider, digest: digest, outcome: "only_provider:\u{e9}")
        let merged = DecisionState.Attempt(
            action: .merge, provider: provider, digest: .zero, key: "0123456789abcdef",
            outcome: "01a1fb40-8259-7d03-8641-c486d40ccd9e")
        return [
            merged: Timestamp(microseconds: 3),
            linked: Timestamp(microseconds: 1_795_223_323_000_004),
            refused: Timestamp(microseconds: -1),
        ]
    }

    @Test func `are decoded as they were encoded`() throws {
        let attempts = try Self.attempts()
        let bytes = try #require(AttemptList.encode(attempts))
        #expect(AttemptList.decode(bytes) == attempts)
        #expect(AttemptList.encode([:]) == nil)
    }

    @Test func `are damage when a byte is missing or the version is unknown`() throws {
        let bytes = try #require(AttemptList.encode(try Self.attempts()))
        let whole = try Self.attempts()
        for count in 0..<bytes.count {
            // A prefix that ends between attempts is a shorter list, never this one.
            #expect(AttemptList.decode(Array(bytes.prefix(count))) != whole)
        }
        #expect(AttemptList.decode([3] + bytes.dropFirst()) == nil)
        #expect(AttemptList.decode(bytes + [0]) == nil)
    }

    @Test func `are migrated from the table that held them before`() async throws {
        let attempts = try Self.attempts().filter { $0.key.action != .merge }
        try await ScratchDatabase.with(isMigrated: false) { database in
            let session = Session(url: database.superuserURL, applicationName: "a test")
            let bytes = try await session.run { connection in
                let steps = Migration.embedded
                try connection.execute(steps[0].sql)
                try connection.execute(
                    """
                    INSERT INTO accounts VALUES
                        ('t', '00000000-0000-0000-0000-000000000001', 0, 1, decode(repeat('00', 32), 'hex'), 0),
                        ('t', '00000000-0000-0000-0000-000000000002', 1, 1, decode(repeat('00', 32), 'hex'), 1)
                    """)
                for (attempt, time) in attempts {
                    _ = try connection.query(
                        Statement(
                            "old_attempt",
                            """
                            INSERT INTO recent_attempts VALUES
                                ('t', '00000000-0000-0000-0000-000000000001', $1, $2, $3, $4, $5)
                            """),
                        [
                            .text(attempt.action.rawValue), .text(attempt.provider.description),
                            .bytes(attempt.digest.bytes), .text(attempt.outcome),
                            .timestamp(time.microseconds),
                        ])
                }
                try connection.execute(steps[1].sql)
                let rows = try connection.query(
                    Statement("accounts", "SELECT attempts FROM accounts ORDER BY account_id"))
                return [try rows.optionalBytes(0, 0), try rows.optionalBytes(1, 0)]
            }
            #expect(bytes[0].flatMap(AttemptList.decode) == attempts)
            #expect(bytes[1] == nil)
        }
    }
}
