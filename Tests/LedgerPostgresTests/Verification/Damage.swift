import LedgerAudit
import Testing

/// One damage to the ledger of `HistoryFixture`, and the first finding that it must give.
struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: String
    let check: VerificationCheck
    let position: Int64?

    /// Damage to the log itself.
    static let ofTheLog = [
        Damage(
            testDescription: "a changed byte of an entry",
            sql: """
                UPDATE events SET entry = set_byte(entry, 20, get_byte(entry, 20) # 128)
                WHERE position = 4
                """, check: .entries, position: 4),
        Damage(
            testDescription: "an entry changed together with its column",
            sql: """
                UPDATE events SET
                    entry = convert_to(replace(convert_from(entry, 'UTF8'), event_id::text,
                        '00000000-0000-7000-8000-000000000000'), 'UTF8'),
                    event_id = '00000000-0000-7000-8000-000000000000'
                WHERE position = 4
                """, check: .fold, position: 8),
        Damage(
            testDescription: "an entry that is not an entry",
            sql: "UPDATE events SET entry = '\\xdeadbeef' WHERE position = 7", check: .entries,
            position: 7),
        Damage(
            testDescription: "an empty entry",
            sql: "UPDATE events SET entry = '' WHERE position = 0", check: .entries, position: 0),
        Damage(
            testDescription: "a changed type",
            sql: "UPDATE events SET type = 'SignedOut' WHERE position = 5", check: .columns,
            position: 5),
        Damage(
            testDescription: "a changed account",
            sql: "UPDATE events SET account_id = gen_random_uuid() WHERE position = 9",
            check: .columns, position: 9),
        Damage(
            testDescription: "a changed time",
            sql: "UPDATE events SET recorded_at = recorded_at - interval '1 s' WHERE position = 6",
            check: .columns, position: 6),
        Damage(
            testDescription: "an invalid time",
            sql: "UPDATE events SET recorded_at = '-infinity' WHERE position = 6",
            check: .entries, position: 6),
        Damage(
            testDescription: "a changed actor",
            sql: "UPDATE events SET actor = 'system' WHERE position = 10", check: .columns,
            position: 10),
        Damage(
            testDescription: "a deleted tail", sql: "DELETE FROM events WHERE position = 11",
            check: .head, position: 11),
        Damage(
            testDescription: "swapped rows",
            sql: """
                UPDATE events SET position = position + 100 WHERE position IN (4, 6);
                UPDATE events SET position = CASE position WHEN 104 THEN 6 ELSE 4 END
                WHERE position > 100
                """, check: .entries, position: 4),
        Damage(
            testDescription: "a gap", sql: "DELETE FROM events WHERE position IN (5, 6)",
            check: .positions, position: 5),
        Damage(
            testDescription: "a position before the first",
            sql: """
                ALTER TABLE events DROP CONSTRAINT events_position_check;
                UPDATE events SET position = -7 WHERE position = 0
                """, check: .positions, position: -7),
        Damage(
            testDescription: "a head that is too far",
            sql: "UPDATE ledger_head SET next_position = 20", check: .head, position: 12),
        Damage(
            testDescription: "a head of another time",
            sql: "UPDATE ledger_head SET last_recorded_at = 'epoch'", check: .head, position: 11),
        Damage(
            testDescription: "no head", sql: "DELETE FROM ledger_head", check: .head,
            position: nil),
    ]

    /// Damage to decision state.
    static let ofDecisionState = [
        Damage(
            testDescription: "an account's count",
            sql: "UPDATE accounts SET next_seq = next_seq + 1 WHERE opened_position = 1",
            check: .accounts, position: 10),
        Damage(
            testDescription: "an account's leaf",
            sql: "UPDATE accounts SET last_leaf = sha256('') WHERE opened_position = 5",
            check: .accounts, position: 11),
        Damage(
            testDescription: "a missing account",
            sql: "DELETE FROM accounts WHERE opened_position = 5", check: .accounts, position: 11),
        Damage(
            testDescription: "a surplus account",
            sql: """
                INSERT INTO accounts SELECT tenant_id, gen_random_uuid(), 1, 1, last_leaf, 1
                FROM accounts LIMIT 1
                """, check: .accounts, position: nil),
        Damage(
            testDescription: "an identity moved to another account",
            sql: """
                UPDATE identities SET account_id = (SELECT account_id FROM accounts
                    WHERE opened_position = 5) WHERE provider = 'apple'
                """, check: .identities, position: 2),
        Damage(
            testDescription: "an unlinked identity linked again",
            sql: "UPDATE identities SET account_id = last_account_id WHERE provider_id = 'ada-g'",
            check: .identities, position: 4),
        Damage(
            testDescription: "another subject",
            sql: "UPDATE identities SET provider_id = 'mallory' WHERE provider_id = 'ada'",
            check: .identities, position: 2),
        Damage(
            testDescription: "a second row of an identity",
            sql: """
                INSERT INTO identities SELECT tenant_id, provider, 'zzz', identity_id, account_id,
                    last_account_id, linked_at, linked_position FROM identities
                WHERE provider = 'apple'
                """, check: .identities, position: 2),
        Damage(
            testDescription: "an ended session that lives again",
            sql: "UPDATE sessions SET ended_position = NULL WHERE ended_position = 10",
            check: .sessions, position: 10),
        Damage(
            testDescription: "a later authentication",
            sql: """
                UPDATE sessions SET authenticated_at = authenticated_at + interval '1 h'
                WHERE opened_position = 7
                """, check: .sessions, position: 7),
        Damage(
            testDescription: "an authentication by other means",
            sql: "UPDATE sessions SET methods = 'hwk pwd' WHERE opened_position = 7",
            check: .sessions, position: 7),
        Damage(
            testDescription: "a missing session",
            sql: "DELETE FROM sessions WHERE opened_position = 11", check: .sessions, position: 11),
    ]

    /// Damage to disclosures and read models.
    static let ofWhatFollows = [
        Damage(
            testDescription: "a changed disclosure",
            sql: """
                UPDATE disclosures SET ciphertext = set_byte(ciphertext, 20,
                    get_byte(ciphertext, 20) # 1) WHERE position = 3
                """, check: .disclosures, position: 3),
        Damage(
            testDescription: "a disclosure of another event",
            sql: """
                UPDATE disclosures d SET ciphertext = o.ciphertext FROM disclosures o
                WHERE d.position = 3 AND o.position = 2
                """, check: .disclosures, position: 3),
        Damage(
            testDescription: "a disclosure about another account",
            sql: "UPDATE disclosures SET account_id = gen_random_uuid() WHERE position = 9",
            check: .disclosures, position: 9),
        Damage(
            testDescription: "a disclosure after the log",
            sql: "UPDATE disclosures SET position = 99 WHERE position = 9", check: .disclosures,
            position: 99),
        Damage(
            testDescription: "an e-mail in user_providers",
            sql: "UPDATE user_providers SET email = 'mallory@example.com' WHERE provider = 'apple'",
            check: .userProviders, position: 2),
        Damage(
            testDescription: "an e-mail that was never verified",
            sql:
                "UPDATE user_providers SET email_verified = NOT email_verified WHERE provider = 'apple'",
            check: .userProviders, position: 2),
        Damage(
            testDescription: "an e-mail that lost its flag",
            sql: "UPDATE user_providers SET email_verified = NULL WHERE provider = 'apple'",
            check: .userProviders, position: 2),
        Damage(
            testDescription: "a missing row of user_providers",
            sql: "DELETE FROM user_providers WHERE provider = 'google'", check: .userProviders,
            position: 6),
        Damage(
            testDescription: "a surplus row of user_providers",
            sql: """
                INSERT INTO user_providers SELECT tenant_id, user_id, 'facebook', 'x', NULL,
                    gen_random_uuid(), linked_at, 4 FROM user_providers LIMIT 1
                """, check: .userProviders, position: 4),
        Damage(
            testDescription: "a deleted audit row",
            sql: "DELETE FROM account_audit WHERE position = 8 AND client_ip IS NULL",
            check: .accountAudit, position: 8),
        Damage(
            testDescription: "a changed audit row",
            sql: "UPDATE account_audit SET providers_after = '{apple,google}' WHERE position = 9",
            check: .accountAudit, position: 9),
        Damage(
            testDescription: "a surplus audit row",
            sql: """
                INSERT INTO account_audit SELECT tenant_id, gen_random_uuid(), 0, 6, event_id,
                    recorded_at, type, outcome, reason, actor, provider, identity_id, session_id,
                    request_id, client_ip, providers_before, providers_after
                FROM account_audit WHERE position = 6
                """, check: .accountAudit, position: 6),
        Damage(
            testDescription: "a missing conflict", sql: "DELETE FROM conflicts", check: .conflicts,
            position: 8),
        Damage(
            testDescription: "a conflict without a holder",
            sql: "UPDATE conflicts SET holder_now = NULL", check: .conflicts, position: 8),
        Damage(
            testDescription: "a surplus conflict",
            sql: """
                INSERT INTO conflicts SELECT tenant_id, 4, first_event, first_at, last_position,
                    last_event, last_at, attempts, reason, provider, identity_id, caller_id,
                    caller_now, callers, holder_id, holder_now, resolved_position, resolved_event,
                    resolved_at, resolved_type, resolved_actor FROM conflicts
                """, check: .conflicts, position: 4),
        Damage(
            testDescription: "a checkpoint that went back",
            sql: "UPDATE projections SET position = 10 WHERE name = 'account_audit'",
            check: .accountAudit, position: 10),
        Damage(
            testDescription: "a stopped projection",
            sql: "UPDATE projections SET failure = 'position 12: x' WHERE name = 'account_audit'",
            check: .projections, position: 12),
        Damage(
            testDescription: "a checkpoint after the log",
            sql: "UPDATE projections SET position = 40 WHERE name = 'user_providers'",
            check: .projections, position: 40),
    ]

    static let all = ofTheLog + ofDecisionState + ofWhatFollows
}
