import Ledger
import LedgerTestSupport
import Postgres
import Testing

/// Accounts that an attacker with the serving login has marked as merged or not merged: no command relies on
/// a state without a merge.
@Suite struct ForgedMergeTests {
    private static let changes = [
        (isMerged: false, sql: "merged_into = 'ADA' WHERE account_id = 'BOB'"),
        (isMerged: false, sql: "merged_into = 'BOB' WHERE account_id = 'BOB'"),
        (isMerged: true, sql: "merged_into = NULL WHERE account_id = 'BOB'"),
        (isMerged: true, sql: "merged_into = gen_random_uuid() WHERE account_id = 'BOB'"),
        (isMerged: true, sql: "merged_into = 'BOB' WHERE account_id = 'ADA'"),
    ]

    @Test(arguments: changes)
    func `no account is erased in place of another`(isMerged: Bool, sql: String) async throws {
        try await MergeFixture.with(isProtected: true) { fixture in
            if isMerged { _ = try await fixture.merge() }
            try await fixture.database.asRuntime.execute(
                "UPDATE accounts SET \(Self.named(sql, in: fixture))")
            try await Self.expectNoErasure(fixture)
        }
    }

    @Test func `two accounts that have absorbed each other one after the other are no ring`()
        async throws
    {
        try await MergeFixture.with(isProtected: true) { fixture in
            let merge = try await fixture.merge()
            try await fixture.database.asSuperuser.execute("CREATE TABLE former AS TABLE merges")
            try await fixture.undo(merge)
            _ = try await fixture.merge(fixture.ada.account, into: fixture.bob.account)
            let sql = "merged_into = 'ADA' WHERE account_id = 'BOB'"
            try await fixture.database.asSuperuser.execute(
                """
                INSERT INTO merges SELECT * FROM former;
                UPDATE accounts SET \(Self.named(sql, in: fixture))
                """)
            try await Self.expectNoErasure(fixture)
        }
    }

    private static func named(_ sql: String, in fixture: MergeFixture) -> String {
        sql.replacing("ADA", with: fixture.ada.account.description)
            .replacing("BOB", with: fixture.bob.account.description)
    }

    /// An erasure of Bob is 500 with any plan, and has no effect.
    private static func expectNoErasure(_ fixture: MergeFixture) async throws {
        let before = try await fixture.sequencer.log().count
        for agreement in [EraseAccount.Agreement.preview, .named, .family] {
            await #expect(throws: LedgerFault.internalFailure) {
                var story = fixture.story()
                try await story.erase(fixture.bob.account, agreement: agreement)
            }
        }
        #expect(try await fixture.sequencer.log().count == before)
        #expect(fixture.sequencer.reportedFaults.contains { $0.contains("accounts.merged_into") })
    }
}
