import Cryptography
import Ledger
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// Collects the reported faults.
private final class FaultLines: Sendable {
    private let all = Mutex<[String]>([])

    var lines: [String] { all.withLock(\.self) }

    func add(_ line: String) { all.withLock { $0.append(line) } }
}

/// The digests of former e-mails: correct, kept, and deleted in time.
@Suite struct FormerEmailTests {
    private static let digest = ScratchDatabase.searchKey.digest(
        of: Email("ada@work.example", isVerified: true), in: .default)

    private static let hex = digest.map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()

    private func worker(
        _ database: ScratchDatabase, keyring: WrappingKeyring = SequencerFixture.keyring
    ) -> FormerEmailWorker {
        FormerEmailWorker(
            url: database.runtimeURL, keyring: keyring, key: ScratchDatabase.searchKey
        ) { Issue.record("\($0)") }
    }

    @Test func `the worker computes digests that no search has asked for`() async throws {
        try await ErasureFixture.with { fixture in
            #expect(try await fixture.database.formerEmails() == ["google-of-ada -"])
            try await worker(fixture.database).round()
            #expect(try await fixture.database.formerEmails() == ["google-of-ada 32"])
            #expect(
                try await fixture.database.tables(holding: Self.hex) == ["public.identities"])
            let report = try await fixture.database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    /// Every command of the tenant waits for the lock under which a worker's page is written.
    @Test(arguments: [false, true], [false, true])
    func `a page looks up each identity, however many are pending`(
        isAnalyzed: Bool, isOfSearch: Bool
    ) async throws {
        try await ScratchDatabase.with { database in
            let owner = Session(url: database.superuserURL, applicationName: "a test")
            try await owner.run { connection in
                // According to the statistics none are pending, and autovacuum does not update them.
                try connection.execute("ALTER TABLE identities SET (autovacuum_enabled = off)")
                try connection.execute("VACUUM ANALYZE identities")
                try connection.execute(
                    """
                    INSERT INTO identities (tenant_id, provider, provider_id, identity_id,
                        last_account_id, linked_at, linked_position)
                    SELECT 'default', 'google', n::text, gen_random_uuid(), gen_random_uuid(), now(), n
                    FROM generate_series(1, 4000) AS n
                    """)
                try connection.execute(
                    """
                    INSERT INTO disclosures (tenant_id, position, account_id, ciphertext)
                    SELECT 'default', linked_position, last_account_id, '' FROM identities;
                    ANALYZE disclosures
                    """)
                if isAnalyzed { try connection.execute("ANALYZE identities") }
            }
            await owner.close()
            let emails = FormerEmails(
                key: ScratchDatabase.searchKey,
                disclosures: DisclosureReader(keyring: SequencerFixture.keyring))
            let session = Session(url: database.runtimeURL, applicationName: "a test") {
                try $0.execute(SearchReads.settings)
                if !isOfSearch { try $0.execute("SET \(FormerEmails.readsInOrder)") }
            }
            let term = try #require(SearchTerm("ada@a.example") { _ in nil })
            let flush = Statement("flush", "SELECT pg_stat_force_next_flush()")
            let read = Statement(
                "entries_read",
                """
                SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes
                WHERE relname IN ('identities', 'disclosures')
                """)
            let entries = try await session.run { connection in
                _ = try connection.query(flush)
                let before = try connection.query(read).int8(0, 0)
                if isOfSearch {
                    try connection.execute("BEGIN")
                    var search = Search(
                        tenant: .default, term: term, emails: emails,
                        disclosures: DisclosureReader(keyring: SequencerFixture.keyring))
                    try search.comparePersonalData(on: connection)
                    #expect(search.hasMore && search.fault == nil, "some pages are less than all")
                    try connection.execute("COMMIT")
                } else {
                    let last = try emails.complete(.default, after: nil, on: connection)
                    #expect(last != nil, "a page is less than all")
                }
                _ = try connection.query(flush)
                return try connection.query(read).int8(0, 0) - before
            }
            await session.close()
            let pages = isOfSearch ? Int64(Search.pagesMax) : 1
            #expect(
                entries > 50 * pages && entries < 1_000 * pages,
                "\(entries) entries of indexes were read")
        }
    }

    @Test func `an erasure deletes the digest, and the account is found by ids only`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            try await worker(database).round()
            #expect(try await database.tables(holding: Self.hex) == ["public.identities"])
            let found = try await database.search("ada@work.example")
            #expect(found.accounts.map(\.id) == [fixture.ada.account])
            #expect(found.accounts.first?.matchedBy == [.email, .formerEmail])
            let identity = try #require(
                found.identities.first { $0.provider == provider("apple") })
            let event = try await database.asSuperuser.texts(
                "SELECT event_id::text FROM events WHERE type = 'ProviderLinked' ORDER BY position")
            var story = fixture.story
            _ = try await story.erase(fixture.ada.account).get()
            #expect(try await database.tables(holding: Self.hex) == [])
            try await fixture.settle()
            for term in ["ada@work.example", "ada@example.org", "subject-of-ada", "google-of-ada"] {
                let nothing = try await database.search(term)
                #expect(nothing.accounts.isEmpty && nothing.identities.isEmpty, "\(term)")
            }
            for term in ["\(fixture.ada.account)", "\(identity.id)", try #require(event.first)] {
                let left = try await database.search(term)
                let ada = left.accounts.first { $0.id == fixture.ada.account }
                #expect(ada?.state == .erased && ada?.linkedProviders == [], "\(term)")
                #expect(left.identities.isEmpty)
            }
            let report = try await database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test(arguments: ["''", "sha256('guessed')", "NULL"])
    func `verify finds a digest that differs from the log`(value: String) async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            // A correct digest shows that the secret is the right one.
            var story = fixture.story
            try await story.link(fixture.bob, "apple", "apple-of-bob", email: "bob@a.example")
            try await story.unlink(fixture.bob, "apple")
            try await database.fold()
            try await worker(database).round()
            try await database.asRuntime.execute(
                """
                UPDATE identities SET former_email = \(value)
                WHERE provider_id = 'google-of-ada'
                """)
            let report = try await database.verifySearch()
            guard value != "NULL" else {
                // The digests were only cleared.
                #expect(report.holds, "\(report.findings)")
                #expect(try await database.search("ada@work.example").identities.count == 2)
                return
            }
            #expect(report.findings.map(\.check) == [.identities])
            #expect(report.findings.first?.text.contains("former_email") == true)
            // Without the secret it can't be checked.
            #expect(try await fixture.verify().holds)
            for wrong in [1, 0] {
                let rebuild = FormerEmailRebuild(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring,
                    key: ScratchDatabase.searchKey)
                #expect(try await rebuild.run().map(\.wrong) == [wrong])
                await rebuild.close()
                #expect(try await database.verifySearch().holds)
                #expect(
                    try await database.formerEmails() == ["apple-of-bob 32", "google-of-ada 32"])
            }
        }
    }

    @Test func `a rebuild with the keys of another ledger changes nothing`() async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            try await worker(database).round()
            let other = SymmetricKey(Array(repeating: 9, count: 32))
            for (keyring, key, fault) in [
                (
                    WrappingKeyring(
                        currentID: "other", current: other, macs: SequencerFixture.keyring.macs),
                    ScratchDatabase.searchKey, FormerEmailFault.keyIsMissing("test")
                ),
                (SequencerFixture.keyring, SearchKey(other), .isOtherSecret(.default)),
            ] {
                let rebuild = FormerEmailRebuild(
                    url: database.runtimeURL, keyring: keyring, key: key)
                await #expect(throws: fault) { try await rebuild.run() }
                await rebuild.close()
                #expect(
                    try await database.tables(holding: Self.hex) == ["public.identities"])
            }
        }
    }

    @Test func `one process at a time works, and the next one when it is done`() async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            try await database.asSuperuser.execute(
                """
                INSERT INTO former_email_leases
                VALUES ('default', gen_random_uuid(), statement_timestamp() + interval '35 s')
                """)
            let worker = worker(database)
            try await worker.round()
            #expect(try await database.formerEmails() == ["google-of-ada -"])
            try await database.asSuperuser.execute(
                "UPDATE former_email_leases SET expires_at = '-infinity'")
            try await worker.round()
            #expect(try await database.formerEmails() == ["google-of-ada 32"])
            #expect(try await database.rows("holder::text]) FROM former_email_leases") == [])
        }
    }

    @Test func `a search writes nothing and waits for no writer`() async throws {
        try await MergeFixture.with { fixture in
            let database = fixture.database
            var story = fixture.story()
            _ = try await story.unlink(fixture.ada, "google").get()
            try await database.fold()
            let blocker = Postgres.Session(url: database.superuserURL, applicationName: "blocker")
            try await blocker.step { try $0.execute("BEGIN; SELECT FROM ledger_head FOR UPDATE") }
            #expect(try await fixture.found("ada@g.example").count == 2)
            #expect(try await database.formerEmails() == ["ada-g -"])
            // Identities that can't be read now are omitted, and the result says so.
            try await blocker.step {
                try $0.execute("ROLLBACK; BEGIN; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
            }
            let faults = FaultLines()
            let reads = SearchReads(
                url: database.runtimeURL,
                keys: (keyring: SequencerFixture.keyring, search: ScratchDatabase.searchKey)
            ) { faults.add($0) }
            let term = try #require(SearchTerm("ada@a.example") { _ in nil })
            let found = try await reads.found(by: term, comparesPersonalData: true, in: .default)
            #expect(found.hasMore && found.accounts.map(\.id) == [fixture.ada.account])
            #expect(faults.lines.count == 1)
            await reads.close()
            try await blocker.step { $0.rollBack() }
            await blocker.close()
        }
    }

    @Test func `an e-mail that a sign-in brought before a merge is found after the unlink`()
        async throws
    {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            _ = try await story.signIn("facebook", "bob-f", email: "later@f.example")
            _ = try await fixture.merge()
            _ = try await story.unlink(fixture.ada, "facebook").get()
            try await fixture.database.fold()
            #expect(
                try await fixture.found("later@f.example").last
                    == "facebook last ada former_email")
            #expect(try await fixture.found("bob@f.example") == [])
        }
    }

    @Test func `a linked identity cannot have a digest, whichever login writes it`() async throws {
        try await ErasureFixture.with { fixture in
            for value in ["sha256('x')", "''"] {
                let refused = try await fixture.database.asSuperuser.refusal(
                    of: "UPDATE identities SET former_email = \(value) WHERE account_id IS NOT NULL"
                )
                #expect(refused?.rawValue == "23514")
            }
        }
    }

    @Test func `a rotation of the encryption key changes no digest`() async throws {
        try await MergeFixture.with { fixture in
            let database = fixture.database
            var story = fixture.story()
            _ = try await story.unlink(fixture.ada, "google").get()
            try await database.fold()
            let before = try await fixture.found("ada@g.example")
            #expect(before.count == 2)
            let former = SymmetricKey(Array(repeating: 0x5A, count: 32))
            let next = SymmetricKey(Array(repeating: 0x5B, count: 32))
            let both = WrappingKeyring(
                currentID: "next", current: next, former: ["test": former],
                macs: SequencerFixture.keyring.macs)
            let report = try await Rewrapping(url: database.ownerURL, keyring: both) { _, _, _ in []
            }
            .run()
            #expect(report.rewrapped(.accountKeys) == 2 && report.isComplete)
            let only = WrappingKeyring(
                currentID: "next", current: next, macs: SequencerFixture.keyring.macs)
            let found = try await database.search("ada@g.example", keyring: only)
            #expect(found.identities.first?.matchedBy == [.formerEmail])
            // Digests computed afterwards are the same.
            try await database.asSuperuser.execute("UPDATE identities SET former_email = NULL")
            #expect(try await database.search("ada@g.example", keyring: only) == found)
        }
    }

    @Test func `an undecryptable identity is left to other processes, and searches report it`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            let other = WrappingKeyring(
                currentID: "other", current: SymmetricKey(Array(repeating: 9, count: 32)),
                macs: SequencerFixture.keyring.macs)
            try await worker(database, keyring: other).round()
            #expect(try await database.formerEmails() == ["google-of-ada -"])
            let nothing = try await database.search("nobody@work.example", keyring: other)
            #expect(nothing.hasMore && nothing.accounts.isEmpty)
            try await worker(database).round()
            #expect(try await database.formerEmails() == ["google-of-ada 32"])
            let report = try await database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test func `an identity that no key decrypts does not block later ones`() async throws {
        try await MergeFixture.with { fixture in
            let database = fixture.database
            var story = fixture.story()
            // A whole page of identities that can't be decrypted.
            for number in 0..<50 {
                _ = try await story.unlink(fixture.ada, "google").get()
                _ = try await story.link(fixture.ada, "google", "s\(number)").get()
            }
            _ = try await story.unlink(fixture.bob, "google").get()
            try await database.fold()
            try await database.asSuperuser.execute(
                """
                UPDATE account_keys SET wrapping_key = 'lost'
                WHERE account_id = '\(fixture.ada.account)'
                """)
            let found = try await database.search("bob@g.example")
            #expect(found.hasMore && found.accounts.map(\.id) == [fixture.bob.account])
            try await database.completeFormerEmails()
            let looked = try await database.formerEmails()
            #expect(looked.count == 51 && looked.filter { $0.hasSuffix(" 32") } == ["bob-g 32"])
        }
    }

    @Test func `concurrent unlinks, links and searches end as if serial`() async throws {
        try await MergeFixture.with { fixture in
            let database = fixture.database
            let end = Flag()
            defer { end.raise() }
            let searching = Task {
                let workers = [worker(database), worker(database)]
                while !end.isRaised {
                    for worker in workers { try await worker.round() }
                    let found = try await database.search("ada-g")
                    #expect(found.identities.count == 1 && found.accounts.count == 1)
                }
            }
            var story = fixture.story()
            for _ in 0..<60 {
                _ = try await story.unlink(fixture.ada, "google").get()
                _ = try await story.link(
                    fixture.ada, "google", "ada-g", email: "ada@g.example"
                ).get()
            }
            _ = try await story.unlink(fixture.ada, "google").get()
            end.raise()
            try await searching.value
            #expect(fixture.sequencer.reportedFaults == [])
            try await database.fold()
            #expect(try await fixture.found("ada@g.example").count == 2)
            let report = try await database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }
}
