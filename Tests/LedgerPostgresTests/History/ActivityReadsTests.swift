import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// The activity of accounts from a real log.
@Suite struct ActivityReadsTests {
    private func with(
        _ body: @Sendable (MergeFixture, ActivityReads) async throws -> Void
    ) async throws {
        try await MergeFixture.with { fixture in
            let reads = ActivityReads(
                url: fixture.database.runtimeURL, macs: SequencerFixture.keyring.macs
            ) { _ in }
            try await body(fixture, reads)
            await reads.close()
        }
    }

    /// Reads all pages of a size.
    private func all(
        _ reads: ActivityReads, of account: AccountID, limit: Int
    ) async throws -> [AccountActivity] {
        var rows: [AccountActivity] = []
        while true {
            let page = try #require(
                try await reads.activity(
                    of: account, before: rows.last?.event, limit: limit, in: .default))
            rows += page.rows
            #expect(page.rows.count == limit || !page.hasMore)
            guard page.hasMore else { return rows }
        }
    }

    /// Returns the activity that follows from the whole log.
    private func expected(
        _ fixture: MergeFixture, _ family: Set<AccountID>
    ) async throws -> [EventID] {
        try await fixture.sequencer.log().map(\.recorded).filter { recorded in
            recorded.accounts.contains { family.contains($0.id) }
        }.compactMap { AccountActivity($0, of: family, clientIP: nil)?.event }.reversed()
    }

    @Test(arguments: [1, 3, 100])
    func `an account has its own activity, and that of the absorbed ones`(
        limit: Int
    ) async throws {
        try await with { fixture, reads in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            let (ada, bob) = (fixture.ada.account, fixture.bob.account)
            let apart = try await all(reads, of: ada, limit: limit)
            #expect(apart.map(\.event) == (try await expected(fixture, [ada])))
            // Bob's refused link is not in the activity of the identity's holder.
            #expect(!apart.contains { $0.kind == .linkRefused })
            #expect(
                try await all(reads, of: bob, limit: limit).contains {
                    $0.kind == .linkRefused && $0.identity == nil
                })
            let merge = try await fixture.merge()
            let merged = try await all(reads, of: ada, limit: limit)
            #expect(merged.map(\.event) == (try await expected(fixture, [ada, bob])))
            #expect(merged.contains { $0.clientIP == Story.clientIP })
            try await fixture.undo(merge)
            let undone = try await all(reads, of: ada, limit: limit)
            #expect(undone.map(\.event) == (try await expected(fixture, [ada])))
            #expect(
                try await reads.activity(
                    of: ada, before: EventID(bits: 7), limit: 1, in: .default) == nil)
            let unknown = try await reads.activity(
                of: AccountID(bits: 7), before: nil, limit: 1, in: .default)
            #expect(unknown == ActivityPage(rows: [], hasMore: false))
        }
    }

    @Test func `a forged event is not shown`() async throws {
        try await with { fixture, reads in
            try await fixture.database.asSuperuser.execute(
                """
                ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                UPDATE events SET entry = '\\x7b7d' WHERE position = 1
                """)
            await #expect(throws: LedgerFault.internalFailure) {
                try await all(reads, of: fixture.ada.account, limit: 100)
            }
        }
    }
}
