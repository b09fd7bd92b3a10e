import LedgerPostgres
import LedgerTestSupport
import Testing

/// A way to change, hide or empty a table of the log, and the level from which its owner cannot.
///
/// From level 2 on, the serving login can do none of these.
struct Attack {
    /// SQL in which `<t>` and `<row>` stand for a table and for a valid row of it.
    let sql: String
    /// The lowest level at which the owner is refused.
    let owner: AppendOnlyLevel

    func sql(on table: LogTable) -> String {
        sql.replacing("<row>", with: table.insert).replacing("<t>", with: table.name)
    }

    /// Changes of rows.
    static let changes = [
        "UPDATE <t> SET tenant_id = 'evil'",
        "DELETE FROM <t>",
        "<row> ON CONFLICT ON CONSTRAINT <t>_pkey DO UPDATE SET tenant_id = 'evil'",
        """
        MERGE INTO <t> e USING (SELECT 'default' AS tenant) n ON e.tenant_id = n.tenant
            WHEN MATCHED THEN DELETE
        """,
        // There is no setting that disables the guards.
        "SET ledger.maintenance = 'on'; UPDATE <t> SET tenant_id = 'evil'",
    ].map { Attack(sql: $0, owner: .triggers) }

    /// Truncations.
    static let truncations = [
        "TRUNCATE <t>", "TRUNCATE <t> CASCADE",
    ].map { Attack(sql: $0, owner: .triggers) }

    /// Statements that drop a table, rewrite it, hide it or open it to others.
    static let ofEveryTable = [
        "DROP TABLE <t> CASCADE",
        "CREATE SCHEMA mine; ALTER TABLE <t> SET SCHEMA mine",
        "ALTER TABLE <t> ALTER COLUMN tenant_id TYPE text USING 'evil'",
        "ALTER TABLE <t> DROP COLUMN tenant_id CASCADE",
        "ALTER TABLE <t> RENAME TO other",
        "ALTER TABLE <t> SET UNLOGGED",
        "ALTER TABLE <t> ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY hide ON <t> USING (false)",
        "CREATE RULE lose AS ON INSERT TO <t> DO INSTEAD NOTHING",
        "CREATE TABLE more () INHERITS (<t>)",
        """
        CREATE TABLE whole (LIKE <t>) PARTITION BY LIST (tenant_id);
        ALTER TABLE whole ATTACH PARTITION <t> DEFAULT
        """,
        "ALTER TABLE <t> DISABLE TRIGGER <t>_no_truncate",
        "ALTER TABLE <t> DISABLE TRIGGER ALL",
        "DROP TRIGGER <t>_no_truncate ON <t>",
    ].map { Attack(sql: $0, owner: .eventTriggers) }

    /// Statements that remove the guards of rows.
    static let ofLogTables = [
        "ALTER TABLE <t> ENABLE REPLICA TRIGGER <t>_no_change",
        "ALTER TRIGGER <t>_no_change ON <t> RENAME TO other",
        "DROP TRIGGER <t>_no_change ON <t>",
        "CREATE TRIGGER also AFTER INSERT ON <t> EXECUTE FUNCTION ledger_refuse_change()",
        "ALTER TABLE <t> ALTER COLUMN tenant_id SET DEFAULT 'evil'",
        """
        CREATE OR REPLACE TRIGGER <t>_no_change BEFORE UPDATE OR DELETE ON <t>
            FOR EACH ROW WHEN (OLD.tenant_id = 'x') EXECUTE FUNCTION ledger_refuse_change()
        """,
    ].map { Attack(sql: $0, owner: .eventTriggers) }

    /// Statements aimed at all tables at once.
    static let ofTheGuards = [
        "DROP SCHEMA public CASCADE",
        "ALTER SCHEMA public RENAME TO other",
        "DROP FUNCTION ledger_refuse_change() CASCADE",
        "ALTER FUNCTION ledger_refuse_change() RENAME TO other",
        """
        CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RETURN NEW; END $$
        """,
    ].map { Attack(sql: $0, owner: .eventTriggers) }

    /// Rights that an owner may grant; for other logins, GRANT is a warning and has no effect.
    static let grants = [
        "GRANT TRUNCATE ON <t> TO PUBLIC", "GRANT TRIGGER ON <t> TO PUBLIC",
    ].map { Attack(sql: $0, owner: .eventTriggers) }

    /// Makes a new role without other rights the owner of a table.
    static let gift = """
        CREATE ROLE "<role>"; GRANT "<role>" TO CURRENT_USER;
        GRANT CREATE ON SCHEMA public TO "<role>"; ALTER TABLE <t> OWNER TO "<role>"
        """

    /// Rights to change data that only an erasure may destroy, or that is never destroyed.
    static let grantsOfChanges = [
        "GRANT UPDATE ON <t> TO PUBLIC", "GRANT DELETE ON <t> TO PUBLIC",
        "GRANT UPDATE (tenant_id) ON <t> TO PUBLIC",
    ].map { Attack(sql: $0, owner: .eventTriggers) }

    /// Returns all statements that are refused to a login other than the owner, for a table.
    static func all(on table: LogTable) -> [Attack] {
        var attacks = truncations + ofEveryTable + ofTheGuards
        if table.kind == .appendOnly { attacks += changes + ofLogTables }
        return attacks
    }
}

/// A guarded table, and a valid row of it.
struct LogTable: CustomTestStringConvertible, Sendable {
    enum Kind {
        case appendOnly
        case erasable
        case state
    }

    let name: String
    let kind: Kind
    let insert: String

    var testDescription: String { name }

    static let all =
        [
            LogTable(name: "events", kind: .appendOnly, insert: ScratchDatabase.insertEvent(0)),
            LogTable(
                name: "merkle_nodes", kind: .appendOnly,
                insert: """
                    INSERT INTO merkle_nodes (tenant_id, first_index, hashes)
                    VALUES ('default', 0, sha256(''))
                    """),
            LogTable(
                name: "checkpoints", kind: .appendOnly,
                insert: """
                    INSERT INTO checkpoints (tenant_id, origin, size, root, note, signed_at)
                    VALUES ('default', 'x', 1, sha256(''), '', now())
                    """),
            LogTable(
                name: "checkpoint_keys", kind: .appendOnly,
                insert: """
                    INSERT INTO checkpoint_keys (tenant_id, vkey, added_at)
                    VALUES ('default', 'x', now())
                    """),
            LogTable(
                name: "access_log", kind: .appendOnly,
                insert: """
                    INSERT INTO access_log (tenant_id, position, accessed_at, principal, role, action,
                        details, disclosed, outcome)
                    VALUES ('default', 0, now(), 'operator', 'admin', 'x', '', false, 'allowed')
                    """),
            LogTable(
                name: "disclosures", kind: .erasable,
                insert: """
                    INSERT INTO disclosures (tenant_id, position, account_id, ciphertext)
                    VALUES ('default', 0, '00000000-0000-7000-8000-000000000000', '')
                    """),
            LogTable(
                name: "account_keys", kind: .erasable,
                insert: """
                    INSERT INTO account_keys (tenant_id, account_id, wrapping_key, wrapped_key)
                    VALUES ('default', '00000000-0000-7000-8000-000000000000', 'x', '')
                    """),
        ]
        + [
            "ledger_head", "accounts", "identities", "sessions", "api_keys", "access_heads",
            "erasures", "merges", "rules",
        ].map {
            LogTable(name: $0, kind: .state, insert: "SELECT 1")
        }
}
