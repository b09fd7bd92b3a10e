import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The remaining data of an erased person and of others.
@Suite struct ErasureTests {
    @Test func `an erased person is nowhere in the database, and everything still verifies`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            for text in ["subject-of-ada", "google-of-ada", "ada@work.example"] {
                #expect(try await !database.tables(holding: text).isEmpty, "\(text) was there")
            }
            let keys = try await database.asSuperuser.texts(
                "SELECT encode(wrapped_key, 'hex') FROM account_keys WHERE account_id = "
                    + quoteLiteral(fixture.ada.account.description))
            #expect(keys.count == 1)
            let before = try await fixture.sequencer.log()
            #expect(try await fixture.verify().holds)

            var story = fixture.story
            let reply = try await story.erase(fixture.ada.account).get()
            let end = LogPosition(Int64(before.count))
            #expect(reply == .erased(at: end, isNew: true, covering: [fixture.ada.account]))
            try await fixture.settle()

            // Bob had the same address and user agent, and remains.
            for text in ErasureFixture.adasData.dropLast(2) + keys {
                #expect(try await database.tables(holding: text) == [], "\(text) is left")
            }
            try await expectNoRows(of: fixture.ada.account, in: database)
            let after = try await fixture.sequencer.log()
            #expect(after.map(\.leaf).prefix(before.count) == before.map(\.leaf)[...])
            let report = try await fixture.verify()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(report.erasedDisclosures > 10)
            #expect(report.withheldDisclosures == 0)
        }
    }

    @Test func `the address of the last event is cleared, too`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            try await story.erase(fixture.bob.account)
            try await fixture.settle()
            for text in ErasureFixture.adasData + ["bob@example.org"] {
                #expect(try await fixture.database.tables(holding: text) == [], "\(text) is left")
            }
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `the identity of an erased account opens another account under another id`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let before = try await fixture.database.rows(
                "identity_id::text]) FROM identities WHERE provider = 'apple'")
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            let again = try await story.signIn(
                "apple", "subject-of-ada", email: "ada@example.org")
            #expect(again.account != fixture.ada.account)
            // The identity that was unlinked before is forgotten, too.
            try await story.link(again, "google", "google-of-ada")
            let after = try await fixture.database.rows(
                "identity_id::text]) FROM identities WHERE provider = 'apple'")
            #expect(before.count == 1 && after.count == 1 && before != after)
            try await fixture.settle()
            let report = try await fixture.verify()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(
                try await fixture.database.userProviders() == [
                    "google|bob|bob@example.org", "apple|subject-of-ada|ada@example.org",
                    "google|google-of-ada|-",
                ])
        }
    }

    @Test func `sessions of an erased account end at once`() async throws {
        try await ErasureFixture.with { fixture in
            let reads = AccountReads(url: fixture.database.runtimeURL) { _ in }
            let running = Task { await reads.run() }
            let before = try await reads.identities(of: fixture.ada.caller, in: .default).get()
            #expect(before.count == 1)
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            let after = try await reads.identities(of: fixture.ada.caller, in: .default)
            #expect(after == .failure(.sessionEnded))
            #expect(try await story.unlink(fixture.ada, "apple") == .failure(.sessionEnded))
            let live = try await fixture.database.rows(
                """
                session_id::text]) FROM sessions
                WHERE account_id = \(quoteLiteral(fixture.ada.account.description))
                    AND (ended_position IS NULL OR refresh_sealed_successor IS NOT NULL)
                """)
            #expect(live.isEmpty)
            try await fixture.settle()
            let secrets = try await fixture.database.rows(
                """
                session_id::text]) FROM sessions
                WHERE account_id = \(quoteLiteral(fixture.ada.account.description))
                    AND refresh_current <> decode(repeat('00', 32), 'hex')
                """)
            #expect(secrets.isEmpty)
            reads.close()
            await running.value
        }
    }

    @Test func `erased data stays erased in a refolded read model`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            try await fixture.database.fold()
            // Before the disclosures are destroyed, and after.
            for _ in 0..<2 {
                let rebuild = Rebuild(
                    url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
                for projection in ProjectionName.allCases {
                    let report = try await rebuild.run(projection, in: .default)
                    #expect(report.differences == 0 && report.fault == nil, "\(report)")
                }
                await rebuild.close()
                try await fixture.database.destroy()
            }
        }
    }

    @Test func `a repeated erasure returns the first result`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            guard
                case .erased(let position, isNew: true, _) = try await story.erase(
                    fixture.ada.account
                ).get()
            else { throw Unexpected(what: "not erased") }
            let count = try await fixture.sequencer.log().count
            let again = try await story.erase(fixture.ada.account, basis: .retention)
            #expect(
                again
                    == .success(
                        .erased(
                            at: position, isNew: false, covering: [fixture.ada.account])))
            #expect(
                try await story.erase(AccountID(bits: 77)) == .failure(.unknownAccount))
            #expect(try await story.hold(fixture.ada.account) == .failure(.accountErased))
            #expect(try await fixture.sequencer.log().count == count)
        }
    }

    private func expectNoRows(of account: AccountID, in database: ScratchDatabase) async throws {
        let id = quoteLiteral(account.description)
        for condition in [
            "account_keys WHERE account_id = \(id)", "disclosures WHERE account_id = \(id)",
            "accounts WHERE account_id = \(id)", "identities WHERE last_account_id = \(id)",
            "idempotency_records WHERE account_id = \(id)", "user_providers WHERE user_id = \(id)",
            "account_audit WHERE account_id = \(id) AND client_ip IS NOT NULL",
        ] {
            let rows = try await database.asSuperuser.texts("SELECT '1' FROM \(condition)")
            #expect(rows.isEmpty, "\(condition)")
        }
    }
}
