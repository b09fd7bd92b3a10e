import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// The provider's flag of an e-mail, in the read model.
@Suite struct EmailVerifiedTests {
    private func expectEmails(_ database: ScratchDatabase, _ expected: [String]) async throws {
        try await database.fold()
        let rows = try await database.rows(
            """
            provider_id, coalesce(email, '-'), coalesce(email_verified::text, '-')])
            FROM user_providers ORDER BY provider_id
            """)
        #expect(rows == expected)
    }

    /// Checks that a refold and a new table give the same rows, which match the log.
    private func expectSame(_ database: ScratchDatabase) async throws {
        let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
        #expect(try await rebuild.run(.userProviders, in: .default).differences == 0)
        #expect(try await database.rebuildOnline(.userProviders).differences.isEmpty)
        try await database.expectComplete()
    }

    @Test func `the flag is set, changed and cleared with the e-mail`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn(
                    "apple", "ada-a", email: "a@b.c", isVerified: false)
                _ = try await story.link(ada, "google", "ada-g", email: "a@b.c").get()
                // As in the log of an earlier release.
                _ = try await story.signIn("google", "bob", email: "b@b.c", isVerified: nil)
                _ = try await story.signIn("google", "none")
                try await expectEmails(
                    database,
                    ["ada-a|a@b.c|false", "ada-g|a@b.c|true", "bob|b@b.c|-", "none|-|-"])
                try await expectSame(database)

                for (said, shown) in [(true, "true"), (nil, "-"), (false, "false")] {
                    _ = try await story.signIn("google", "bob", email: "b@b.c", isVerified: said)
                    try await expectEmails(
                        database,
                        [
                            "ada-a|a@b.c|false", "ada-g|a@b.c|true", "bob|b@b.c|\(shown)",
                            "none|-|-",
                        ])
                }
                // A sign-in without an e-mail does not affect the previous one.
                _ = try await story.signIn("google", "bob")
                _ = try await story.unlink(ada, "google").get()
                _ = try await story.link(ada, "google", "ada-g").get()
                try await expectEmails(
                    database, ["ada-a|a@b.c|false", "ada-g|-|-", "bob|b@b.c|false", "none|-|-"])
                try await database.asSuperuser.execute(
                    """
                    UPDATE user_providers SET email_verified = true WHERE provider_id = 'bob';
                    UPDATE user_providers SET email_verified = true WHERE provider_id = 'none'
                    """)
                let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                let report = try await rebuild.run(.userProviders, in: .default)
                #expect(report.different == 2)
                #expect(report.first?.columns == "email_verified")
            }
        }
    }

    @Test func `tables of an earlier release get the flags that a refold gives`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada", email: "a@b.c", isVerified: nil)
                try await database.fold()
                _ = try await database.rebuildOnline(.userProviders)
                let former = """
                    tenant_id, user_id, provider, provider_id, email, identity_id, linked_at,
                    linked_position
                    """
                try await database.asSuperuser.execute(
                    """
                    DROP VIEW user_providers;
                    ALTER TABLE user_providers_1 DROP email_verified;
                    ALTER TABLE user_providers_2 DROP email_verified;
                    CREATE VIEW user_providers AS SELECT \(former) FROM user_providers_2
                    """)
                let migration = try #require(
                    Migration.embedded.first { $0.name.hasSuffix("email_verified.sql") })
                try await database.asSuperuser.execute(migration.sql)
                try await expectEmails(database, ["ada|a@b.c|-"])
                #expect(
                    try await database.rows(
                        """
                        attrelid::regclass::text, attstattarget::text]) FROM pg_attribute
                        WHERE attname = 'email_verified' AND attstattarget = 0
                        ORDER BY attrelid::regclass::text
                        """) == ["user_providers_1|0", "user_providers_2|0"])
                let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                #expect(try await rebuild.run(.userProviders, in: .default).differences == 0)
                let verifier = Verifier(
                    url: database.superuserURL, keyring: SequencerFixture.keyring)
                let report = try await verifier.run()
                await verifier.close()
                #expect(report.holds && !report.isSearched, "\(report.findings)")
            }
        }
    }
}
