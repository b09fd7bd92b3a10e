import Ledger
import LedgerTestSupport
import Postgres

@testable import LedgerAudit
@testable import LedgerPostgres

/// A ledger with the data of Ada and Bob, completely folded.
struct ErasureFixture {
    let database: ScratchDatabase
    let sequencer: SequencerFixture
    let ada: Guest
    let bob: Guest

    /// The data that must be gone once Ada is erased.
    static let adasData = [
        "subject-of-ada", "google-of-ada", "ada@example.org", "ada@work.example", Story.clientIP,
        "a test",
    ]

    /// Creates the ledger, runs a body with it and drops it.
    static func with(
        owner: ScratchDatabase.Owner = .superuser,
        _ body: @Sendable (ErasureFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with(owner: owner) { database in
            try await SequencerFixture.with(database) { sequencer in
                var story = Story(sequencer.sequencer)
                let ada = try await story.signIn(
                    "apple", "subject-of-ada", email: "ada@example.org")
                try await story.link(ada, "google", "google-of-ada", email: "ada@work.example")
                try await story.unlink(ada, "google")
                _ = try await story.signIn("apple", "subject-of-ada", email: "ada@work.example")
                let again = try await story.signIn("apple", "subject-of-ada")
                try await story.signOut(again)
                let bob = try await story.signIn("google", "bob", email: "bob@example.org")
                // The rejection is in Ada's history, too.
                try await story.link(bob, "apple", "subject-of-ada")
                try await database.fold()
                try await body(
                    ErasureFixture(
                        database: database, sequencer: sequencer, ada: ada, bob: bob))
            }
        }
    }

    var story: Story { Story(sequencer.sequencer, seed: .random(in: 2...(.max))) }

    /// Folds, and destroys until nothing is left to destroy.
    func settle() async throws {
        try await database.fold()
        try await database.destroy()
    }

    func verify() async throws -> VerificationReport {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }
}

extension ScratchDatabase {
    /// Runs an erasure worker until nothing is left to destroy.
    func destroy(limits: ErasureLimits = ErasureLimits()) async throws {
        let worker = ErasureWorker(url: runtimeURL, limits: limits) { _ in }
        try await eventually("nothing is left to destroy") { try await worker.round() == 0 }
    }

    /// Returns the tables that contain a text, as text or in the bytes of a `bytea`.
    func tables(holding text: String) async throws -> [String] {
        let hex = text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let names = try await asSuperuser.texts(
            """
            SELECT format('%I.%I', n.nspname, c.relname)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
            """)
        var found: [String] = []
        for name in names {
            let rows = try await asSuperuser.texts(
                """
                SELECT count(*)::text FROM \(name) t
                WHERE strpos(t::text, \(quoteLiteral(text))) > 0
                    OR strpos(t::text, \(quoteLiteral(hex))) > 0
                """)
            if rows != ["0"] { found.append(name) }
        }
        return found
    }
}
