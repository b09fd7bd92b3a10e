import Ledger
import LedgerTestSupport
import Postgres

/// One way to tamper with a database: a row of the table in `docs/append-only.md`.
struct Tampering: Sendable {
    /// Its name in the table.
    let name: String
    /// Its number in the security review; nil for a case that is not in the review.
    let review: Int?
    /// The position of the event concerned; nil for none.
    let position: Int64?
    let act: @Sendable (PreparedLedger) async throws -> Void

    init(
        _ name: String, review: Int? = nil, at position: Int64? = nil,
        _ act: @escaping @Sendable (PreparedLedger) async throws -> Void
    ) {
        self.name = name
        self.review = review
        self.position = position
        self.act = act
    }

    /// Executes SQL as a superuser who disables the guards and restores them.
    init(_ name: String, review: Int? = nil, at position: Int64? = nil, sql: String) {
        self.init(name, review: review, at: position) { try await $0.copied.lift(sql) }
    }

    static let all =
        ofTheLog + ofDisclosures + ofSeals + forged + ofState + putBack + ofReadModels + beside
        + ofGuards
}

extension Tampering {
    static let ofDisclosures = [
        Tampering(
            "a disclosure is edited", review: 9, at: 13,
            sql: """
                UPDATE disclosures SET ciphertext = set_byte(ciphertext, 20,
                    get_byte(ciphertext, 20) # 1) WHERE position = 13
                """),
        Tampering(
            "two disclosures are exchanged", review: 10, at: 13,
            sql: """
                UPDATE disclosures d SET ciphertext = o.ciphertext FROM disclosures o
                WHERE (d.position, o.position) IN ((13, 16), (16, 13)) AND d.tenant_id = o.tenant_id
                """),
        Tampering(
            "a disclosure is gone", review: 11, at: 13,
            sql: "DELETE FROM disclosures WHERE position = 13"),
        Tampering(
            "an account's key is gone", review: 12, at: 12,
            sql: """
                DELETE FROM account_keys k USING accounts a WHERE a.opened_position = 12
                    AND k.tenant_id = a.tenant_id AND k.account_id = a.account_id
                """),
    ]

    static let ofReadModels = [
        Tampering(
            "an e-mail in `user_providers` is edited", review: 16, at: 2,
            sql: "UPDATE user_providers SET email = 'x@example.com' WHERE provider = 'apple'"
                + " AND tenant_id = 'default'"),
        Tampering(
            "a row of `user_providers` is gone", review: 17, at: 6,
            sql: "DELETE FROM user_providers WHERE provider_id = 'bob'"),
        Tampering(
            "a row of `account_audit` is gone", review: 18, at: 9,
            sql: "DELETE FROM account_audit WHERE position = 9 AND tenant_id = 'default'"),
        Tampering("a conflict is gone", at: 8, sql: "DELETE FROM conflicts"),
    ]

    static let beside = [
        Tampering(
            "a row of the access log is gone", review: 31,
            sql: "DELETE FROM access_log WHERE position = 1"),
        Tampering(
            "the last row of the access log is gone, and its head is set back",
            sql: """
                DELETE FROM access_log WHERE position = 2;
                UPDATE access_heads SET next_position = 2
                """),
        Tampering(
            "a row of the access log is edited", review: 32,
            sql: "UPDATE access_log SET principal = 'somebody else' WHERE position = 1"),
        Tampering(
            "an API key has another role",
            sql: "UPDATE api_keys SET role = 'admin' WHERE role = 'auditor'"),
        Tampering(
            "a revoked API key is good again", sql: "UPDATE api_keys SET revoked_at = NULL"),
        Tampering(
            "an API key is made up",
            sql: """
                INSERT INTO api_keys (tenant_id, key_id, label, role, secret_digest, created_at)
                SELECT tenant_id, gen_random_uuid(), label, 'admin', secret_digest, created_at
                FROM api_keys WHERE revoked_at IS NULL
                """),
        Tampering(
            "a webhook has another address",
            sql: "UPDATE webhook_endpoints SET url = 'https://thief.example/'"),
        Tampering(
            "a session has another refresh token", review: 33, at: 22,
            sql: "UPDATE sessions SET refresh_current = sha256('') WHERE opened_position = 22"),
        Tampering(
            "a session expires ten years later", review: 34, at: 22,
            sql: """
                UPDATE sessions SET expires_at = expires_at + interval '10 years'
                WHERE opened_position = 22
                """),
        Tampering(
            "the attempts that a budget counts are gone", review: 35, at: 8,
            sql: "UPDATE accounts SET attempts = NULL"),
    ]
}

extension Tampering {
    /// Changes of the guards by a superuser, which remain.
    private init(guards name: String, review: Int, _ sql: String) {
        self.init(name, review: review) { ledger in
            try await ledger.database.asSuperuser.execute(
                "BEGIN; ALTER EVENT TRIGGER ledger_guard_ddl DISABLE; \(sql); COMMIT")
        }
    }

    static let ofGuards = [
        Tampering(
            guards: "the triggers of `events` are disabled", review: 36,
            "ALTER TABLE events DISABLE TRIGGER USER"),
        Tampering(
            guards: "the function of the triggers lets all pass", review: 37,
            """
            CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN RETURN NEW; END'
            """),
        Tampering(
            guards: "a trigger was added to `events`", review: 38,
            """
            CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER a_stranger BEFORE INSERT ON events FOR EACH ROW
                EXECUTE FUNCTION swallow()
            """),
    ]
}
