import Cryptography
import Encodings
import Ledger
import LedgerTestSupport
import Postgres
import TransparencyLog

extension Tampering {
    /// Another id in the last entry of Ada's history, which no later one names, and in its column.
    private static let entry = """
        UPDATE events SET
            entry = convert_to(replace(convert_from(entry, 'UTF8'), event_id::text,
                '00000000-0000-7000-8000-000000000000'), 'UTF8'),
            event_id = '00000000-0000-7000-8000-000000000000'
        WHERE position = 11 AND tenant_id = 'default'
        """
    /// Changes the data derived from that entry, but not its hash.
    private static let rewritten = """
        \(entry);
        UPDATE accounts a SET last_leaf = sha256('\\x00'::bytea || e.entry)
        FROM events e WHERE e.position = 11 AND a.last_position = 11
            AND e.tenant_id = 'default' AND a.tenant_id = 'default';
        UPDATE account_audit SET event_id = '00000000-0000-7000-8000-000000000000'
        WHERE position = 11 AND tenant_id = 'default'
        """
    private static let unsealed = """
        DELETE FROM merkle_nodes WHERE tenant_id = 'default';
        DELETE FROM checkpoints WHERE tenant_id = 'default';
        DELETE FROM checkpoint_keys WHERE tenant_id = 'default'
        """

    static let ofTheLog = [
        Tampering(
            "an entry is edited", review: 1, at: 10,
            sql: """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 10
                """),
        Tampering(
            "an entry is rewritten with all that follows from it, but not its hashes", review: 2,
            at: 11,
            sql: rewritten),
        Tampering("the same, and all hashes", review: 3, at: 11) { ledger in
            try await ledger.copied.lift(rewritten)
            try await ledger.copied.lift(try await ledger.rehashed().nodes)
        },
        Tampering(
            "the same, and all checkpoints are signed again by another key", review: 4, at: 11
        ) {
            ledger in
            try await ledger.copied.lift(rewritten)
            let hashes = try await ledger.rehashed()
            try await ledger.copied.lift(hashes.nodes + ";" + hashes.checkpoints)
        },
        Tampering(
            "the same, and hashes, checkpoints and their keys are gone", at: 11,
            sql: rewritten + ";" + unsealed),
        Tampering(
            "an event has the MAC of another one", at: 10,
            sql: """
                UPDATE events SET mac = (SELECT mac FROM events WHERE position = 9)
                WHERE position = 10
                """),
        Tampering(
            "an event in the middle is gone", review: 5, at: 10,
            sql: "DELETE FROM events WHERE position = 10"),
        Tampering(
            "two events change places", review: 6, at: 10,
            sql: """
                UPDATE events e SET entry = o.entry FROM events o
                WHERE (e.position, o.position) IN ((10, 14), (14, 10))
                    AND e.tenant_id = o.tenant_id
                """),
        Tampering(
            "the tail is cut off", review: 7, at: 21,
            sql: "DELETE FROM events WHERE position >= 21 AND tenant_id = 'default'"),
        Tampering(
            "the tail is cut off, and the head is set back", review: 8, at: 21,
            sql: """
                DELETE FROM events WHERE position >= 21 AND tenant_id = 'default';
                UPDATE ledger_head SET next_position = 21 WHERE tenant_id = 'default'
                """),
        Tampering(
            "what no checkpoint covers yet is cut off with all that follows from it", at: 23,
            sql: """
                CREATE TEMPORARY TABLE frank AS SELECT account_id, tenant_id FROM accounts
                    WHERE opened_position = 23;
                DELETE FROM account_keys x USING frank f WHERE x.account_id = f.account_id;
                DELETE FROM accounts WHERE opened_position >= 23;
                DELETE FROM identities WHERE linked_position >= 23;
                DELETE FROM sessions WHERE opened_position >= 23;
                DELETE FROM disclosures WHERE position >= 23;
                DELETE FROM user_providers WHERE linked_position >= 23;
                DELETE FROM account_audit WHERE position >= 23;
                DELETE FROM events WHERE position >= 23;
                UPDATE projections SET position = 23 WHERE position > 23;
                UPDATE ledger_head h SET next_position = 23, last_recorded_at = e.recorded_at
                FROM events e WHERE e.position = 22 AND h.tenant_id = e.tenant_id
                """),
        Tampering(
            "the whole database is set back to a copy", review: 25, at: 20,
            sql: SealingFixture.restoreBackup),
        Tampering("a tenant is gone", review: 26) { ledger in
            try await ledger.copied.lift(
                """
                DO $each$ DECLARE place text; BEGIN
                    FOR place IN SELECT table_name FROM information_schema.columns c
                        JOIN information_schema.tables t USING (table_schema, table_name)
                        WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id'
                            AND t.table_type = 'BASE TABLE'
                    LOOP EXECUTE format('DELETE FROM %I WHERE tenant_id = ''acme''', place); END LOOP;
                END $each$
                """)
        },
        Tampering(
            "the head is moved on", at: 26,
            sql: "UPDATE ledger_head SET next_position = 27 WHERE tenant_id = 'default'"),
        Tampering(
            "the head's clock is in 2099", review: 21, at: 25,
            sql:
                "UPDATE ledger_head SET last_recorded_at = '2099-01-01' WHERE tenant_id = 'default'"
        ),
        Tampering(
            "the log's protection is removed, and an identity moved to another account", at: 2,
            sql: """
                UPDATE events SET schema_version = 1 WHERE position = 0 AND tenant_id = 'default';
                UPDATE ledger_head SET mac = NULL, protected_from = NULL
                WHERE tenant_id = 'default';
                UPDATE identities i SET account_id = a.account_id, last_account_id = a.account_id,
                    mac = NULL
                FROM accounts a WHERE i.provider_id = 'ada' AND a.opened_position = 5
                    AND a.tenant_id = i.tenant_id
                """),
    ]

    static let ofSeals = [
        Tampering(
            "a stored hash is edited", review: 22, at: 0,
            sql: """
                UPDATE merkle_nodes SET hashes = set_byte(hashes, 3, get_byte(hashes, 3) # 1)
                WHERE first_index = 0 AND tenant_id = 'default'
                """),
        Tampering(
            "a checkpoint is made up", review: 23, at: 39,
            sql: """
                INSERT INTO checkpoints SELECT tenant_id, origin, 40, root, note, signed_at
                FROM checkpoints WHERE size = 23
                """),
        Tampering(
            "the row of the newest checkpoint is gone", review: 27,
            sql: "DELETE FROM checkpoints WHERE size = 23"),
        Tampering(
            "hashes, checkpoints and their keys are gone", review: 24, at: 0, sql: unsealed),
    ]
}

extension PreparedLedger {
    /// The number of events of the tenant `default`.
    static let count: Int64 = 26

    /// Statements that replace the stored hashes by those of the current log, and sign its checkpoints
    /// again.
    fileprivate func rehashed() async throws -> (nodes: String, checkpoints: String) {
        guard let name = NoteKeyName(SealingFixture.origin) else { preconditionFailure("a name") }
        let signer = NoteSigner(name: name, privateKey: Ed25519PrivateKey.generate())
        var tree = CompactRange()
        var stored: [TreeHash] = []
        var roots: [TreeHash] = []
        for entry in try await copied.entries() {
            tree.append(TreeHash.leaf(entry), completing: &stored)
            roots.append(tree.root)
        }
        func hex(_ hashes: some Sequence<TreeHash>) -> String {
            var bytes: [UInt8] = []
            for hash in hashes { hash.append(to: &bytes) }
            return "'\\x\(Hex.encode(bytes))'"
        }
        let rows = try await database.rows(
            """
            first_index::text, (octet_length(hashes) / 32)::text]) FROM merkle_nodes
            WHERE tenant_id = 'default'
            """)
        let nodes = rows.map { row in
            let numbers = row.split(separator: "|").compactMap { Int($0) }
            return """
                UPDATE merkle_nodes SET hashes = \(hex(stored[numbers[0]..<numbers[0] + numbers[1]]))
                WHERE first_index = \(numbers[0]) AND tenant_id = 'default'
                """
        }
        let sizes = try await database.rows(
            "size::text]) FROM checkpoints WHERE tenant_id = 'default'")
        let checkpoints = sizes.compactMap { Int($0) }.map { size in
            let checkpoint = Checkpoint(origin: name, size: Int64(size), root: roots[size - 1])
            let note = checkpoint.signed(by: [signer]).description
            return """
                UPDATE checkpoints SET root = \(hex([roots[size - 1]])),
                    note = \(quoteLiteral(note)) WHERE size = \(size) AND tenant_id = 'default'
                """
        }
        let key = """
            UPDATE checkpoint_keys SET vkey = \(quoteLiteral(signer.verifier.vkey))
            WHERE tenant_id = 'default'
            """
        return (
            nodes: nodes.joined(separator: ";"),
            checkpoints: (checkpoints + [key]).joined(separator: ";")
        )
    }
}
