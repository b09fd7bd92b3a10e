import Ledger
import LedgerEngine
import Postgres

/// The writes of rules that a batch recorded.
enum RulesWrites {
    private static let replace = Statement(
        "replace_rules",
        """
        WITH written AS (
            INSERT INTO rules AS r (tenant_id, version, body, mac)
            VALUES ($1::text, $2::bigint, $3::text, $4::bytea)
            ON CONFLICT (tenant_id) DO UPDATE
            SET version = excluded.version, body = excluded.body, mac = excluded.mac
            WHERE r.version < excluded.version
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'rules') FROM written
        """)

    /// - Throws: `BatchFault.damaged` if no key authenticates a row.
    static func calls(for batches: [TenantBatch]) throws(BatchFault) -> [Call] {
        var calls: [Call] = []
        for batch in batches where batch.changes.setsRules {
            guard let rules = batch.state.ledger.rules else { continue }
            calls.append(
                Call(
                    replace,
                    [
                        .text(batch.tenant.description), .int8(rules.rulesVersion),
                        .text(rules.body),
                        .bytes(try batch.macs.mac(of: .rules(rules, of: batch.tenant))),
                    ]))
        }
        return calls
    }
}
