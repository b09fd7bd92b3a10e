import Ledger
import LedgerTestSupport

extension Tampering {
    /// Earlier rows of a server, each with its MAC.
    static let putBack = [
        Tampering(
            "an earlier head is put back with its MAC", at: 20,
            sql: putBack("ledger_head", as: "kept_ledger_head", "tenant_id = 'default'")),
        Tampering(
            "an identity's row from before an unlink is put back with its MAC", at: 4,
            sql: putBack("identities", as: "kept_early_identities", "provider_id = 'ada-g'")),
        Tampering(
            "an ended session's row is put back with its MAC", at: 11,
            sql: putBack("sessions", as: "kept_early_sessions", "opened_position = 3")),
        Tampering(
            "a session's row is put back with its MAC, and so its former refresh token", at: 7,
            sql: putBack("sessions", as: "kept_early_sessions", "opened_position = 7")),
        Tampering(
            "a revoked API key's row is put back with its MAC",
            sql: putBack("api_keys", as: "kept_early_api_keys", "label = 'revoked'")),
        Tampering("former rules are put back with their MAC") { ledger in
            try await SequencerFixture.with(
                ledger.database, isProtected: true, opensLedger: false
            ) { fixture in
                var story = Story(fixture.sequencer, seed: 5)
                var policy = SequencerFixture.unlimitedPolicy
                try await story.set(policy)
                try await ledger.copied.lift("CREATE TABLE kept_early_rules AS TABLE rules")
                policy.reauthenticationSeconds += 1
                try await story.set(policy)
            }
            try await ledger.copied.lift(
                "DELETE FROM rules; INSERT INTO rules TABLE kept_early_rules")
        },
    ]

    /// Statements that restore an earlier row of a tenant in a table.
    private static func putBack(_ table: String, as kept: String, _ row: String) -> String {
        """
        DELETE FROM \(table) WHERE \(row) AND tenant_id = 'default';
        INSERT INTO \(table) SELECT * FROM \(kept) WHERE \(row) AND tenant_id = 'default'
        """
    }
}

extension Story {
    fileprivate mutating func set(_ policy: TenantPolicy) async throws {
        _ = try await submit(.setRules(SetRules(policy, condition: .withoutLockOuts))).get()
    }
}
