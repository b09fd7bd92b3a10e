package import Ledger
import LedgerEngine
package import Postgres

/// The clock and the rules of the tenants of a batch, and for a change of rules the providers that have identities.
package enum RulesLoad {
    private static let columns: SelectList = ["r.tenant_id", "r.body", "r.mac"]
    /// The columns of one tenant, and in the same order those of several.
    private static let list = HeadLoad.clockList + [movedOne] + columns
    private static let listOfMany = HeadLoad.clockList + [movedOfMany] + columns
    private static let (tenant, body, mac) = (list["r.tenant_id"], list["r.body"], list["r.mac"])
    /// The columns of the clock, in every row.
    static let (now, schemaVersion) = (list["now"], list["schema_version"])

    /// The tenants that are moved (``TenantMove``), in every row; null if none is.
    private static let movedOne =
        "(SELECT array_agg(tenant_id) FROM tenant_moves WHERE tenant_id = $1::text) AS moved"
    private static let movedOfMany = """
        (SELECT array_agg(tenant_id) FROM tenant_moves
        WHERE tenant_id = ANY ($1::text[])) AS moved
        """
    private static let moved = list["moved"]

    /// One statement, because a batch of one command costs hardly more than its statements.
    private static let one = Statement(
        "read_clock_and_rules",
        "SELECT \(list.sql) FROM (SELECT) clock LEFT JOIN rules r ON r.tenant_id = $1::text")

    private static let many = Statement(
        "read_clock_and_rules_of",
        """
        SELECT \(listOfMany.sql) FROM (SELECT) clock
        LEFT JOIN rules r ON r.tenant_id = ANY ($1::text[])
        """)

    /// The providers with identities, found by one probe each, and whether one of them is linked.
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
        SELECT provider, EXISTS (
            SELECT FROM identities i
            WHERE i.tenant_id = $1::text AND i.provider = used.provider
                AND i.account_id IS NOT NULL) AS is_linked
        FROM used WHERE provider IS NOT NULL
        """)

    /// Those of some providers with an account that has no link of the kept providers, or only a lost number.
    ///
    /// It probes every account of a provider that is removed safely, by the index of `last_account_id`,
    /// which is `account_id` while an identity is linked; `OFFSET 0` keeps each probe from becoming a join.
    private static let soleProviders = Statement(
        "load_sole_providers",
        """
        SELECT p.provider FROM unnest($2::text[]) AS p (provider)
        WHERE EXISTS (
            SELECT FROM identities i
            WHERE i.tenant_id = $1::text AND i.provider = p.provider AND i.account_id IS NOT NULL
                AND NOT EXISTS (
                    SELECT FROM identities o
                    WHERE o.last_account_id = i.account_id AND o.tenant_id = $1::text
                        AND o.account_id = i.account_id AND o.provider = ANY ($3::text[])
                        AND \(NumberLoad.isNotLost)
                    OFFSET 0)
            OFFSET 0)
        """)

    /// Those of some domains for which second factors were made.
    private static let factorDomains = Statement(
        "load_factor_domains",
        """
        SELECT d.domain FROM unnest($2::text[]) AS d (domain)
        WHERE EXISTS (
            SELECT FROM factors f WHERE f.tenant_id = $1::text AND f.domain = d.domain)
        """)

    static func call(_ tenants: Set<TenantID>) -> Call {
        if tenants.count == 1, let tenant = tenants.first {
            return Call(one, [.text(tenant.description)])
        }
        return Call(many, [.texts(tenants.map { $0.description })])
    }

    /// Refuses a batch with a tenant that is moved; to be called before other rows are read.
    ///
    /// - Throws: `BatchFault.tenantMoved`, with the first of them.
    static func refuseMoved(_ result: QueryResult) throws {
        guard try !result.isNull(0, moved) else { return }
        let names = try result.textArray(0, moved)
        guard let tenant = names.min().flatMap(TenantID.init) else { return }
        throw BatchFault.tenantMoved(tenant)
    }

    /// - Throws: `BatchFault.damaged` if the rules are not those that a tenant's head names: the row was
    ///   deleted, or a former one was put back with its MAC.
    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch], _ cache: RulesCache
    ) throws {
        for row in 0..<result.rowCount where try !result.isNull(row, tenant) {
            guard let batch = try tenants[result.tenant(row, tenant)] else { continue }
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
        let body = try result.text(row, Self.body)
        let mac = try result.optionalBytes(row, Self.mac)
        if let mac, let known = cache.rules(of: batch.tenant, body: body, mac: mac) { return known }
        let rules = try parse(body)
        try batch.check(mac, of: .rules(rules, of: batch.tenant), in: .rules)
        if let mac { cache.store(rules, of: batch.tenant, body: body, mac: mac) }
        return rules
    }

    static func providers(of tenant: TenantID) -> Call {
        Call(usedProviders, [.text(tenant.description)])
    }

    static func readProviders(_ result: QueryResult, into batch: TenantBatch) throws {
        batch.state.usedProviders = try result.providers()
        for row in 0..<result.rowCount where try result.bool(row, result.column("is_linked")) {
            batch.state.linkedProviders.insert(
                try result.provider(row, result.column("provider")))
        }
    }

    /// Loads the providers that requests of a batch remove and by which alone an account can be signed in
    /// to: only if any are removed, because every account of them may have to be read.
    static func loadSoleProviders(
        for requests: [(tenant: TenantID, request: SetRules)],
        into tenants: [TenantID: TenantBatch], on connection: Connection
    ) throws {
        for (tenant, request) in requests where request.condition == .withoutLockOuts {
            guard let batch = tenants[tenant], let recorded = batch.state.ledger.rules else {
                continue
            }
            // An earlier request of the batch may have added a provider.
            let before = requests.filter { $0.tenant == tenant }.map(\.request.policy)
                .reduce(into: Set(recorded.policy.providers.keys)) {
                    $0.formUnion($1.providers.keys)
                }
            let removed = before.subtracting(request.policy.providers.keys)
                .intersection(batch.state.usedProviders)
            guard !removed.isEmpty else { continue }
            batch.state.soleProviders.formUnion(
                try soleProviders(
                    among: removed, keeping: request.policy, of: tenant, on: connection))
        }
    }

    /// Loads the domains of second factors that requests of a batch lose: only if any are lost.
    static func loadLostFactorDomains(
        for requests: [(tenant: TenantID, request: SetRules)],
        into tenants: [TenantID: TenantBatch], on connection: Connection
    ) throws {
        for (tenant, request) in requests where request.condition == .withoutLockOuts {
            guard let batch = tenants[tenant], let recorded = batch.state.ledger.rules else {
                continue
            }
            let lost = request.policy.lostFactorDomains(
                since: [recorded.policy]
                    + requests.filter { $0.tenant == tenant }.map(\.request.policy))
            guard !lost.isEmpty else { continue }
            let found = try connection.query(
                factorDomains, [.text(tenant.description), .texts(lost.sorted())])
            for row in 0..<found.rowCount {
                batch.state.lostFactorDomains.insert(try found.text(row, found.column("domain")))
            }
        }
    }

    /// Returns the providers with an account that has no link by which the kept rules let it sign in.
    private static func soleProviders(
        among removed: some Sequence<ProviderName>, keeping kept: TenantPolicy,
        of tenant: TenantID, on connection: Connection
    ) throws -> Set<ProviderName> {
        try connection.query(
            soleProviders,
            [
                .text(tenant.description), .names(removed), .names(kept.providers.keys),
                NumberLoad.providers(of: kept),
            ]
        ).providers()
    }

    /// Reads the column `body`.
    package static func rules(_ result: QueryResult, _ row: Int) throws -> RulesSet {
        try parse(try result.text(row, result.column("body")))
    }

    private static func parse(_ body: String) throws(BatchFault) -> RulesSet {
        do throws(EntryFault) {
            return try RulesSet(body: body)
        } catch {
            throw .damaged("rules.body")
        }
    }
}

extension Parameter {
    /// The names of providers, sorted.
    static func names(_ providers: some Sequence<ProviderName>) -> Parameter {
        .texts(providers.map { $0.description }.sorted())
    }
}

extension QueryResult {
    /// Reads the names of providers in the first column.
    func providers() throws -> Set<ProviderName> {
        try Set((0..<rowCount).map { try provider($0, 0) })
    }
}
