import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport

/// A ledger with a known history of twelve events, folded to the end.
///
///     0 LedgerOpened
///     1 AccountOpened, 2 ProviderLinked apple, 3 SignedIn        Ada
///     4 ProviderLinked google                                    Ada
///     5 AccountOpened, 6 ProviderLinked google, 7 SignedIn       Bob
///     8 ConflictRejected                                         Bob, then Ada
///     9 ProviderUnlinked google                                  Ada
///    10 SignedOut                                                Ada
///    11 SignedIn                                                 Bob
struct HistoryFixture {
    let database: ScratchDatabase
    let ada: Guest
    let bob: Guest

    /// The number of events.
    static let count: Int64 = 12

    /// Creates the ledger, runs a body with it and drops it.
    ///
    /// Only triggers protect the log, so that a test can damage it.
    static func with(_ body: @Sendable (HistoryFixture) async throws -> Void) async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            let fixture = try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await story.link(ada, "google", "ada-g", email: "g@example.com")
                let bob = try await story.signIn("google", "bob", email: "bob@example.com")
                try await story.link(bob, "apple", "ada")
                try await story.unlink(ada, "google")
                try await story.signOut(ada)
                _ = try await story.signIn("google", "bob", email: "robert@example.com")
                return HistoryFixture(database: database, ada: ada, bob: bob)
            }
            try await database.fold()
            try await body(fixture)
        }
    }

    /// Executes SQL with the triggers of the log disabled.
    func damage(_ sql: String) async throws {
        try await database.asSuperuser.execute(
            "ALTER TABLE events DISABLE TRIGGER USER; \(sql)")
    }

    func verify(
        keyring: WrappingKeyring? = SequencerFixture.keyring, rangeEvents: Int64 = 2_000
    ) async throws -> VerificationReport {
        let verifier = Verifier(
            url: database.runtimeURL, keyring: keyring, rangeEvents: rangeEvents)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    /// Verifies with another value in one column of one row, and restores the old one.
    func verify(
        changing column: String, of table: String, hasKeys: Bool
    ) async throws -> VerificationReport {
        try await damage(
            """
            CREATE TABLE kept AS SELECT * FROM \(table);
            UPDATE \(table) SET \(column) = (jsonb_populate_record(NULL::\(table),
                jsonb_build_object('\(column)', (CASE pg_typeof(\(column))::text
                    WHEN 'uuid' THEN '"01234567-89ab-7cde-8f01-23456789abcd"'
                    WHEN 'timestamp with time zone' THEN '"2001-01-01T00:00:00Z"'
                    WHEN 'bytea' THEN '"\\\\x' || repeat('ab', 32) || '"'
                    WHEN 'text[]' THEN '["x"]'
                    WHEN 'text' THEN '"x"'
                    WHEN 'boolean' THEN 'false'
                    ELSE '77' END)::jsonb))).\(column)
            WHERE ctid = (SELECT max(ctid) FROM \(table))
            """)
        let report = try await verify(keyring: hasKeys ? SequencerFixture.keyring : nil)
        try await damage(
            "DELETE FROM \(table); INSERT INTO \(table) SELECT * FROM kept; DROP TABLE kept")
        return report
    }
}
