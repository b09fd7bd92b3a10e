import Ledger

extension Tampering {
    private static let bob = "(SELECT account_id FROM accounts WHERE opened_position = 5)"

    static let ofState = [
        Tampering(
            "an identity is moved to another account", review: 13, at: 2,
            sql: "UPDATE identities SET account_id = \(bob) WHERE provider_id = 'ada'"),
        Tampering(
            "an identity is moved to another account, its read model with it", review: 14, at: 2,
            sql: """
                UPDATE identities SET account_id = \(bob) WHERE provider_id = 'ada';
                UPDATE user_providers SET user_id = \(bob) WHERE provider_id = 'ada'
                """),
        Tampering(
            "an identity has another subject", review: 15, at: 2,
            sql: "UPDATE identities SET provider_id = 'thief' WHERE provider_id = 'ada'"),
        Tampering(
            "an identity is made up",
            sql: """
                INSERT INTO identities SELECT tenant_id, provider, 'thief', gen_random_uuid(),
                    account_id, last_account_id, linked_at, linked_position
                FROM identities WHERE provider_id = 'ada'
                """),
        Tampering(
            "an identity's row from before an unlink is put back", at: 4,
            sql: "UPDATE identities SET account_id = last_account_id WHERE provider_id = 'ada-g'"),
        Tampering(
            "an unlink by support is planned without an event", at: 2,
            sql: "UPDATE identities SET unlink_due = now() WHERE provider_id = 'ada'"),
        Tampering(
            "a session belongs to another account", review: 19, at: 22,
            sql: "UPDATE sessions SET account_id = \(bob) WHERE opened_position = 22"),
        Tampering(
            "an ended session is alive again", review: 20, at: 11,
            sql: "UPDATE sessions SET ended_position = NULL WHERE ended_position = 11"),
        Tampering(
            "a legal hold is taken off an account", at: 19,
            sql: "UPDATE accounts SET legal_holds = NULL WHERE legal_holds IS NOT NULL"),
        Tampering(
            "an account is disabled without an event", at: 18,
            sql: "UPDATE accounts SET disabled_position = 18 WHERE merged_into IS NOT NULL"),
        Tampering(
            "an account is handed over without an event", at: 18,
            sql: "UPDATE accounts SET handed_over_position = 18 WHERE merged_into IS NOT NULL"),
        Tampering(
            "an account has a second factor without an event", at: 18,
            sql: """
                UPDATE accounts SET second_factors = ARRAY[gen_random_uuid()]
                WHERE merged_into IS NOT NULL
                """),
        Tampering(
            "an absorbed account is no longer absorbed", at: 18,
            sql: "UPDATE accounts SET merged_into = NULL WHERE merged_into IS NOT NULL"),
        Tampering(
            "an account is absorbed by another one", at: 19,
            sql: """
                UPDATE accounts a SET merged_into = c.account_id FROM accounts c
                WHERE a.opened_position = 5 AND c.opened_position = 12
                    AND a.tenant_id = c.tenant_id
                """),
        Tampering(
            "an account has come further than its events", at: 22,
            sql: "UPDATE accounts SET next_seq = next_seq + 1 WHERE opened_position = 20"),
        Tampering(
            "what a merge did is edited", at: 18, sql: "UPDATE merges SET moved = '{}'"),
        Tampering("rules are made up") { ledger in
            let rules = RulesSet(
                version: 1, policy: TenantPolicy(providers: Set<ProviderName>()),
                formerProviders: [:])
            try await ledger.copied.lift(
                """
                INSERT INTO rules (tenant_id, version, body)
                VALUES ('default', 1, '\(rules?.body ?? "")')
                """)
        },
        Tampering(
            "an erasure is made up", at: 19,
            sql: """
                INSERT INTO erasures (tenant_id, account_id, opened_position, next_seq, last_leaf,
                    position, erased_at)
                SELECT tenant_id, account_id, opened_position, next_seq, last_leaf, last_position,
                    now() FROM accounts WHERE opened_position = 5
                """),
    ]
}
