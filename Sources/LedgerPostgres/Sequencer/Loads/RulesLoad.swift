package import Ledger
import LedgerEngine
package import Postgres

/// The rules of the tenants of a batch, and for a change of rules the providers that have identities.
package enum RulesLoad {
    private static let one = Statement(
        "load_rules_one", "SELECT tenant_id, body, mac FROM rules WHERE tenant_id = $1::text")

    private static let many = Statement(
        "load_rules", "SELECT tenant_id, body, mac FROM rules WHERE tenant_id = ANY ($1::text[])")

    /// The providers with identities, found by one probe each, and on request whether one of the
    /// provider's accounts has no link of the requested providers, which may read every account.
    private static let usedProviders = Statement(
        "load_used_providers",
        """
        WITH RECURSIVE used AS (
            (SELECT provider FROM identities WHERE tenant_id = $1::text ORDER BY provider LIMIT 1)
            UNION ALL
            SELECT (
                SELECT provider FROM identities
                WHERE tenant_id = $1::text AND provider > u.provider ORDER BY provider LIMIT 1)
            FROM used u WHERE u.provider IS NOT NULL)
        SELECT u.provider, $3::boolean AND u.provider <> ALL ($2::text[]) AND EXISTS (
            SELECT FROM identities i
            WHERE i.tenant_id = $1::text AND i.provider = u.provider AND i.account_id IS NOT NULL
                AND NOT EXISTS (
                    SELECT FROM identities o
                    WHERE o.tenant_id = $1::text AND o.account_id = i.account_id
                        AND o.provider = ANY ($2::text[])))
        FROM used u WHERE u.provider IS NOT NULL
        """)

    static func call(_ tenants: Set<TenantID>) -> Call {
        if tenants.count == 1, let tenant = tenants.first {
            return Call(one, [.text(tenant.description)])
        }
        return Call(many, [.texts(tenants.map { $0.description })])
    }

    /// - Throws: `BatchFault.damaged` if the rules are not those that a tenant's head names: the row was
    ///   deleted, or a former one was put back with its MAC.
    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch], _ cache: RulesCache
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, 0)] else { continue }
            batch.state.ledger.load(try rules(result, row, of: batch, cache))
        }
        for batch in tenants.values
        where batch.state.ledger.rules?.rulesVersion != batch.macs.rulesVersion {
            throw BatchFault.damaged("rules of tenant \(batch.tenant): not those of the head")
        }
    }

    private static func rules(
        _ result: QueryResult, _ row: Int, of batch: TenantBatch, _ cache: RulesCache
    ) throws -> RulesSet {
        let (body, mac) = (try result.text(row, 1), try result.optionalBytes(row, 2))
        if let mac, let known = cache.rules(of: batch.tenant, body: body, mac: mac) { return known }
        let rules = try parse(body)
        try batch.check(mac, of: .rules(rules, of: batch.tenant), in: .rules)
        if let mac { cache.store(rules, of: batch.tenant, body: body, mac: mac) }
        return rules
    }

    static func providers(of tenant: TenantID, for request: SetRules) -> Call {
        Call(
            usedProviders,
            [
                .text(tenant.description),
                .texts(request.policy.providers.keys.map { $0.description }.sorted()),
                .bool(request.condition == .nobodyLockedOut),
            ])
    }

    static func readProviders(_ result: QueryResult, into batch: TenantBatch) throws {
        for row in 0..<result.rowCount {
            let provider = try result.provider(row, 0)
            batch.state.usedProviders.insert(provider)
            if try result.bool(row, 1) { batch.state.lonelyProviders.insert(provider) }
        }
    }

    /// Reads the column `body`.
    package static func rules(_ result: QueryResult, _ row: Int, from first: Int) throws -> RulesSet
    {
        try parse(try result.text(row, first))
    }

    private static func parse(_ body: String) throws(BatchFault) -> RulesSet {
        do throws(EntryFault) {
            return try RulesSet(body: body)
        } catch {
            throw .damaged("rules.body")
        }
    }
}
