import Ledger
import LedgerTestSupport
import Postgres

@testable import LedgerPostgres

/// One way to tamper with a database: a row of the table in `docs/append-only.md`.
struct Tampering: Sendable {
    /// What the row calls it.
    let name: String
    /// The event that it is about; nil for what is about none.
    let position: Int64?
    let act: @Sendable (PreparedLedger) async throws -> Void

    init(
        _ name: String, at position: Int64? = nil,
        _ act: @escaping @Sendable (PreparedLedger) async throws -> Void
    ) {
        self.name = name
        self.position = position
        self.act = act
    }

    /// By SQL alone, as a superuser who lifts the guards and puts them back.
    init(_ name: String, at position: Int64? = nil, sql: String) {
        self.init(name, at: position) { try await $0.copied.lift(sql) }
    }

    /// By an event that keeps all rules, as the login that serves.
    init(
        forged name: String,
        _ forge: @escaping @Sendable (inout Forger, PreparedLedger) throws -> Void
    ) {
        self.init(name, at: PreparedLedger.count) { ledger in
            var forger = try await Forger(ledger.database)
            try forge(&forger, ledger)
            try await ledger.database.asRuntime.execute(forger.sql)
            try await ledger.database.fold()
        }
    }

    static let all =
        ofTheLog + ofDisclosures + ofSeals + forged + ofState + ofReadModels + beside + ofGuards
}

extension Tampering {
    static let ofDisclosures = [
        Tampering(
            "a disclosure is edited", at: 13,
            sql: """
                UPDATE disclosures SET ciphertext = set_byte(ciphertext, 20,
                    get_byte(ciphertext, 20) # 1) WHERE position = 13
                """),
        Tampering(
            "two disclosures are exchanged", at: 13,
            sql: """
                UPDATE disclosures d SET ciphertext = o.ciphertext FROM disclosures o
                WHERE (d.position, o.position) IN ((13, 16), (16, 13)) AND d.tenant_id = o.tenant_id
                """),
        Tampering(
            "a disclosure is gone", at: 13, sql: "DELETE FROM disclosures WHERE position = 13"),
        Tampering(
            "an account's key is gone", at: 12,
            sql: """
                DELETE FROM account_keys k USING accounts a WHERE a.opened_position = 12
                    AND k.tenant_id = a.tenant_id AND k.account_id = a.account_id
                """),
    ]

    static let forged = [
        Tampering(forged: "a link is forged") { forger, ledger in
            try forger.link(
                "thief", of: "facebook", to: ledger.ada.account,
                by: .account(ledger.ada.account, session: ledger.ada.caller.session))
        },
        Tampering(forged: "a sign-in is forged") { forger, ledger in
            guard let link = forger.state.accounts[ledger.ada.account]?.links.first else {
                throw Unexpected(what: "no link")
            }
            let fact = SignedIn(
                account: ledger.ada.account, authenticatedAt: forger.state.lastRecordedAt,
                identity: link.identity, methods: .federated, provider: link.provider,
                session: forger.newID())
            try forger.append(
                .signedIn(fact), by: .account(ledger.ada.account, session: fact.session))
        },
        Tampering(forged: "an unlink is forged") { forger, ledger in
            guard let link = forger.state.accounts[ledger.carol.account]?.links.first else {
                throw Unexpected(what: "no link")
            }
            try forger.append(
                .providerUnlinked(
                    ProviderUnlinked(
                        account: ledger.carol.account, identity: link.identity,
                        provider: link.provider)),
                by: .account(ledger.carol.account, session: nil))
        },
        Tampering(forged: "a merge by support is forged") { forger, ledger in
            try forger.merge(
                ledger.ada.account, into: ledger.carol.account,
                by: .apiKey(Principal(key: APIKeyID(bits: 1), role: .support)))
        },
        Tampering(forged: "a legal hold is forged") { forger, ledger in
            try forger.append(
                .legalHoldSet(LegalHoldSet(account: ledger.ada.account, hold: forger.newID())),
                by: .system)
        },
        Tampering(forged: "a rotation of a key is forged") { forger, _ in
            try forger.append(
                .keyRotated(KeyRotated(kind: .encryption, key: "0123456789abcdef", former: "test")),
                by: .system)
        },
    ]

    static let ofReadModels = [
        Tampering(
            "an e-mail in `user_providers` is edited", at: 2,
            sql: "UPDATE user_providers SET email = 'x@example.com' WHERE provider = 'apple'"
                + " AND tenant_id = 'default'"),
        Tampering(
            "a row of `user_providers` is gone", at: 6,
            sql: "DELETE FROM user_providers WHERE provider_id = 'bob'"),
        Tampering(
            "a row of `account_audit` is gone", at: 9,
            sql: "DELETE FROM account_audit WHERE position = 9 AND tenant_id = 'default'"),
        Tampering("a conflict is gone", at: 8, sql: "DELETE FROM conflicts"),
    ]

    static let beside = [
        Tampering(
            "a row of the access log is gone", sql: "DELETE FROM access_log WHERE position = 1"),
        Tampering(
            "the last row of the access log is gone, and its head is set back",
            sql: """
                DELETE FROM access_log WHERE position = 2;
                UPDATE access_heads SET next_position = 2
                """),
        Tampering(
            "a row of the access log is edited",
            sql: "UPDATE access_log SET principal = 'somebody else' WHERE position = 1"),
        Tampering(
            "an API key has another role",
            sql: "UPDATE api_keys SET role = 'admin' WHERE role = 'auditor'"),
        Tampering(
            "a revoked API key is good again", sql: "UPDATE api_keys SET revoked_at = NULL"),
        Tampering(
            "a webhook has another address",
            sql: "UPDATE webhook_endpoints SET url = 'https://thief.example/'"),
        Tampering(
            "a session has another refresh token", at: 22,
            sql: "UPDATE sessions SET refresh_current = sha256('') WHERE opened_position = 22"),
        Tampering(
            "a session expires ten years later", at: 22,
            sql: """
                UPDATE sessions SET expires_at = expires_at + interval '10 years'
                WHERE opened_position = 22
                """),
        Tampering(
            "the attempts that a budget counts are gone", at: 8,
            sql: "UPDATE accounts SET attempts = NULL"),
    ]
}

extension Tampering {
    /// What these do is done by a superuser who leaves the guards as he made them.
    private init(guards name: String, _ sql: String) {
        self.init(name) { ledger in
            try await ledger.database.asSuperuser.execute(
                "BEGIN; ALTER EVENT TRIGGER ledger_guard_ddl DISABLE; \(sql); COMMIT")
        }
    }

    static let ofGuards = [
        Tampering(
            guards: "the triggers of `events` are disabled",
            "ALTER TABLE events DISABLE TRIGGER USER"),
        Tampering(
            guards: "the function of the triggers lets all pass",
            """
            CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql
            AS 'BEGIN RETURN NEW; END'
            """),
        Tampering(
            guards: "a trigger of somebody's own is on `events`",
            """
            CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER a_stranger BEFORE INSERT ON events FOR EACH ROW
                EXECUTE FUNCTION swallow()
            """),
    ]
}
