import Cryptography
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Searches by every kind of term, over a real database.
@Suite struct SearchTests {
    @Test func `live accounts are found by exact matches of all they hold`() async throws {
        try await MergeFixture.with { fixture in
            for (term, expected) in [
                ("ada@a.example", ["ada live [apple,google] email", "apple of ada email"]),
                (" ADA@A.Example ", ["ada live [apple,google] email", "apple of ada email"]),
                ("ada@g.example", ["ada live [apple,google] email", "google of ada email"]),
                ("ada-a", ["ada live [apple,google] provider_id", "apple of ada provider_id"]),
                ("bob-g", ["bob live [facebook,google] provider_id", "google of bob provider_id"]),
                ("\(fixture.ada.account)", ["ada live [apple,google] account_id"]),
                (
                    try await fixture.identity("ada-a").uppercased(),
                    ["ada live [apple,google] identity_id", "apple of ada identity_id"]
                ),
                ("ADA-A", []), (" ada-a", []), ("ada-", []), ("ada@a.exampl", []),
                ("ada%", []), ("'; --", []), ("\\x00", []),
                ("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", []),
                ("ffffffff-ffff-7fff-bfff-ffffffffffff", []),
            ] {
                #expect(try await fixture.found(term) == expected, "\(term)")
            }
            let other = try await fixture.database.search("ada-a", in: tenant("acme"))
            #expect(other.accounts.isEmpty && other.identities.isEmpty && !other.hasMore)
        }
    }

    @Test func `without personal data only ids find anything`() async throws {
        try await MergeFixture.with { fixture in
            #expect(
                try await fixture.found("\(fixture.ada.account)", comparingPersonalData: false)
                    == ["ada live [apple,google] account_id"])
            // A provider may also use UUIDs as subjects.
            let subject = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
            _ = try await fixture.signIn("facebook", subject)
            #expect(try await fixture.found(subject, comparingPersonalData: false) == [])
            #expect(
                try await fixture.found(subject) == [
                    "somebody live [facebook] provider_id", "facebook of somebody provider_id",
                ])
        }
    }

    @Test func `events are found by their ids and by their requests`() async throws {
        try await MergeFixture.with { fixture in
            let rows = try await fixture.database.rows(
                """
                event_id::text, request_id::text]) FROM events WHERE type = 'ProviderLinked'
                ORDER BY position LIMIT 1
                """)
            let ids = try #require(rows.first).split(separator: "|").map(String.init)
            #expect(
                try await fixture.found(ids[0], comparingPersonalData: false) == [
                    "ada live [apple,google] event_id", "#2 ProviderLinked event_id",
                ])
            // The story's request ids carry no time.
            let request = try await fixture.found(ids[1], comparingPersonalData: false)
            #expect(
                request == [
                    "ada live [apple,google] request_id", "#1 AccountOpened request_id",
                    "#2 ProviderLinked request_id", "#3 SignedIn request_id",
                ])
        }
    }

    @Test func `an identity that was unlinked is found until it is linked again`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            let identity = try await fixture.identity("ada-g")
            for _ in 0..<2 {
                _ = try await story.unlink(fixture.ada, "google").get()
                try await fixture.database.fold()
                #expect(try await fixture.database.formerEmails() == ["ada-g -"])
                #expect(
                    try await fixture.found("Ada@G.example") == [
                        "ada live [apple] former_email", "google last ada former_email",
                    ])
                // A digest of the worker and a missing one give the same result.
                try await fixture.database.completeFormerEmails()
                #expect(try await fixture.database.formerEmails() == ["ada-g 32"])
                #expect(
                    try await fixture.found("ada@g.example") == [
                        "ada live [apple] former_email", "google last ada former_email",
                    ])
                #expect(
                    try await fixture.found("ada-g") == [
                        "ada live [apple] former_provider_id",
                        "google last ada former_provider_id",
                    ])
                let report = try await fixture.database.verifySearch()
                #expect(report.holds, "\(report.findings)")
                _ = try await story.link(fixture.ada, "google", "ada-g", email: "new@g.example")
                    .get()
                try await fixture.database.fold()
                #expect(try await fixture.database.formerEmails() == [])
                #expect(try await fixture.found("ada@g.example") == [])
                #expect(
                    try await fixture.found("new@g.example") == [
                        "ada live [apple,google] email", "google of ada email",
                    ])
                _ = try await story.unlink(fixture.ada, "google").get()
                try await fixture.database.fold()
                #expect(try await fixture.found("new@g.example").count == 2)
                _ = try await story.link(fixture.ada, "google", "ada-g", email: "ada@g.example")
                    .get()
                try await fixture.database.fold()
            }
            #expect(try await fixture.identity("ada-g") == identity)
        }
    }

    @Test func `the former e-mail is the last known one`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            _ = try await story.signIn("google", "ada-g", email: "later@g.example")
            _ = try await story.signIn("google", "ada-g")
            _ = try await story.unlink(fixture.ada, "google").get()
            // This identity has no known e-mail.
            _ = try await story.link(fixture.bob, "apple", "bob-a").get()
            _ = try await story.unlink(fixture.bob, "apple").get()
            try await fixture.database.fold()
            try await fixture.database.completeFormerEmails()
            #expect(try await fixture.found("later@g.example").count == 2)
            #expect(try await fixture.found("ada@g.example") == [])
            #expect(try await fixture.database.formerEmails() == ["ada-g 32", "bob-a 0"])
            // The next account that links it holds it now, and the last account gets no further e-mails.
            _ = try await story.link(fixture.bob, "apple", "bob-a", email: "later@g.example").get()
            try await fixture.database.fold()
            #expect(
                try await fixture.found("later@g.example") == [
                    "ada live [apple] former_email",
                    "bob live [facebook,google,apple] email", "apple of bob email",
                    "google last ada former_email",
                ])
            let report = try await fixture.database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test func `merged accounts are found with their survivor`() async throws {
        try await MergeFixture.with { fixture in
            let before = try await fixture.found("bob@g.example")
            let merge = try await fixture.merge()
            let ada = "ada live with bob [apple,facebook,google]"
            for (term, expected) in [
                (
                    "\(fixture.bob.account)",
                    ["\(ada) absorbed_account", "bob absorbed into ada [] account_id"]
                ),
                ("bob@f.example", ["\(ada) email", "facebook of ada email"]),
                ("bob-f", ["\(ada) provider_id", "facebook of ada provider_id"]),
                (
                    "bob@g.example",
                    [
                        "\(ada) absorbed_account", "bob absorbed into ada [] former_email",
                        "google last bob former_email",
                    ]
                ),
                (
                    "\(merge)",
                    [
                        "\(ada) absorbed_account+event_id", "bob absorbed into ada [] event_id",
                        "#10 AccountsMerged event_id",
                    ]
                ),
            ] {
                let found = try await fixture.found(term)
                #expect(
                    found.map { $0.hasPrefix("#") ? String($0.drop { $0 != " " }) : $0 }
                        == expected.map { $0.hasPrefix("#") ? String($0.drop { $0 != " " }) : $0 },
                    "\(term)")
            }
            try await fixture.database.completeFormerEmails()
            #expect(try await fixture.database.verifySearch().holds)
            try await fixture.undo(merge)
            #expect(try await fixture.database.formerEmails() == [])
            #expect(try await fixture.found("bob@g.example") == before)
            let report = try await fixture.database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test func `the survivor's dropped identity is found until the merge is undone`()
        async throws
    {
        try await MergeFixture.with { fixture in
            let merge = try await fixture.merge(keeping: ["google"])
            #expect(
                try await fixture.found("ada@g.example") == [
                    "ada live with bob [apple,facebook,google] former_email",
                    "google last ada former_email",
                ])
            try await fixture.database.completeFormerEmails()
            try await fixture.undo(merge)
            #expect(
                try await fixture.found("ada@g.example") == [
                    "ada live [apple,google] email", "google of ada email",
                ])
            let report = try await fixture.database.verifySearch()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test func `a survivor is found by its whole chain of merges`() async throws {
        try await MergeFixture.with { fixture in
            let carl = try await fixture.signIn("apple", "carl-a")
            _ = try await fixture.merge(carl.account, into: fixture.bob.account)
            _ = try await fixture.merge()
            let found = try await fixture.database.search("\(carl.account)")
            let all = Dictionary(uniqueKeysWithValues: found.accounts.map { ($0.id, $0) })
            #expect(all.count == 3 && !found.hasMore)
            #expect(
                all[fixture.ada.account]?.absorbed == [carl.account, fixture.bob.account].sorted())
            #expect(all[fixture.bob.account]?.absorbed == [carl.account])
            #expect(all[carl.account]?.absorbed == [])
        }
    }

    @Test func `an identity that moved does not reveal its former account`()
        async throws
    {
        try await MergeFixture.with { fixture in
            let carl = try await fixture.signIn("apple", "carl-a")
            let identity = try await fixture.identity("ada-g")
            var story = fixture.story()
            _ = try await story.signIn("google", "ada-g")
            #expect(try await fixture.found(identity).last == "google of ada identity_id")
            _ = try await story.unlink(fixture.ada, "google").get()
            _ = try await story.link(carl, "google", "ada-g").get()
            // Ada signed in with it last, and nothing leads to Carl.
            let moved = try await fixture.database.search(identity)
            #expect(moved.hasMore && moved.accounts.isEmpty && moved.identities.isEmpty)
            _ = try await story.erase(fixture.ada.account).get()
            // It may have been erased with her.
            let left = try await fixture.database.search(identity)
            #expect(left.hasMore && left.identities.isEmpty)
            #expect(left.accounts.map(\.id) == [fixture.ada.account])
            #expect(left.accounts.map(\.state) == [.erased])
        }
    }

    @Test func `an incomplete search is marked, except for an event that is found`() async throws {
        try await MergeFixture.with { fixture in
            let ids = try await fixture.database.asSuperuser.texts(
                "SELECT event_id::text FROM events WHERE position >= 1 ORDER BY position")
            // No event has this id, and it is as old as the first.
            let nobody = try #require(ids.first).prefix(24) + "000000000000"
            let event = try #require(ids.last)
            for (text, positionsMax, count, hasMore) in [
                (event, Int64(1), 1, false), (String(nobody), 1, 0, true),
                (String(nobody), 1_000, 0, false),
            ] {
                let result = try await fixture.database.lookedUp(text, positionsMax: positionsMax)
                #expect(result.events.count == count && result.hasMore == hasMore)
            }
        }
    }

    @Test func `many accounts with one e-mail are listed in order, up to the limit`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            for number in 0..<SearchResult.hitsMax + 1 {
                _ = try await story.signIn("apple", "s\(number)", email: "Shared@Example.com")
            }
            try await fixture.database.fold()
            let found = try await fixture.database.search("shared@example.com")
            #expect(found.hasMore)
            #expect(found.accounts.count == SearchResult.hitsMax)
            #expect(found.identities.count == SearchResult.hitsMax)
            #expect(found.accounts.map(\.id) == found.accounts.map(\.id).sorted())
            #expect(found.identities.map(\.id) == found.identities.map(\.id).sorted())
            #expect(try await fixture.database.search("shared@example.com") == found)
            let record = found.details(
                of: try #require(SearchTerm("shared@example.com") { _ in nil }))
            #expect(record["kind"] == "email" && record["found"] == "100")
            #expect(record["accounts"]?.split(separator: " ").count == 20)
        }
    }

    @Test func `a search for an e-mail uses the index, of a rebuilt table as well`() async throws {
        try await MergeFixture.with { fixture in
            let rebuild = OnlineRebuild(
                ownerURL: fixture.database.ownerURL, keyring: SequencerFixture.keyring)
            let report = try await rebuild.run(.userProviders)
            await rebuild.close()
            #expect(report.differences.isEmpty)
            let definitions = try await fixture.database.asSuperuser.texts(
                """
                SELECT substring(indexdef FROM 'USING.*') FROM pg_indexes
                WHERE indexname IN ('user_providers_1_email', 'user_providers_2_email')
                """)
            #expect(definitions.count == 2 && Set(definitions).count == 1, "\(definitions)")
            let plan = try await fixture.database.asSuperuser.with { connection in
                try connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
                let rows = try connection.query(
                    Statement(
                        "plan",
                        """
                        EXPLAIN SELECT user_id FROM user_providers WHERE tenant_id = 'default'
                            AND email IS NOT NULL AND \(SearchedEmail.expression) = 'a@b'
                        """))
                return try (0..<rows.rowCount).map { try rows.text($0, 0) }
            }
            #expect(plan.joined().contains("user_providers_2_email"), "\(plan)")
            #expect(try await fixture.found("ada@a.example").count == 2)
        }
    }
}
