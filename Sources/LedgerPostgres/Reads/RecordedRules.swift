package import Ledger
package import Postgres

/// The recorded rules of tenants, for operators and for readiness; a batch loads and authenticates its own.
package enum RecordedRules {
    private static let lockedOut = Statement(
        "locked_out",
        """
        SELECT i.account_id, count(*) OVER () AS count FROM identities i
        WHERE i.tenant_id = $1::text AND i.provider = ANY ($2::text[]) AND i.account_id IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM identities o
                WHERE o.last_account_id = i.account_id AND o.tenant_id = $1::text
                    AND o.account_id = i.account_id AND o.provider = ANY ($3::text[])
                    AND \(NumberLoad.isNotLost))
        GROUP BY i.account_id ORDER BY i.account_id LIMIT $5
        """)

    private static let losingFactors = Statement(
        "losing_factors",
        """
        WITH RECURSIVE named AS (
            SELECT account_id FROM factors WHERE tenant_id = $1 AND domain = ANY ($2::text[])
        ), \(MergedAccounts.holders)
        SELECT holder AS account_id, count(*) OVER () AS count FROM family
        WHERE depth = 0 ORDER BY holder LIMIT $3
        """)

    private static let used = Statement(
        "used_providers",
        """
        SELECT p.provider FROM unnest($2::text[]) AS p (provider)
        WHERE EXISTS (
            SELECT FROM identities i WHERE i.tenant_id = $1::text AND i.provider = p.provider)
        """)

    /// Reads the rules of every tenant that has any; a failure for those whose row is damaged.
    ///
    /// Rows with an invalid tenant are ignored: a server's login can insert them.
    package static func read(
        on connection: Connection
    ) throws -> [TenantID: Result<RulesSet, any Error>] {
        let result = try connection.query(AllTenants.rules)
        var rules: [TenantID: Result<RulesSet, any Error>] = [:]
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                continue
            }
            rules[tenant] = Result {
                try RulesLoad.rules(result, row)
            }
        }
        return rules
    }

    /// Reads the versions of all rules by the name of their tenant, which may be invalid.
    package static func versions(on connection: Connection) throws -> [String: Int64] {
        let result = try connection.query(AllTenants.rulesVersions)
        var numbers: [String: Int64] = [:]
        for row in 0..<result.rowCount {
            numbers[try result.text(row, result.column("tenant_id"))] = try result.int8(
                row, result.column("version"))
        }
        return numbers
    }

    /// Returns the providers with identities to which rules give another type or other issuers.
    package static func providers(
        of tenant: TenantID, pinnedOtherwiseIn new: TenantPolicy, than recorded: RulesSet,
        on connection: Connection
    ) throws -> [ProviderName] {
        let changed = recorded.providersPinnedOtherwise(in: new)
        return try connection.query(used, [.text(tenant.description), .names(changed)])
            .providers().sorted()
    }

    /// Returns some of the accounts that rules would lock out, in the order of their ids, and their number.
    package static func accounts(
        of tenant: TenantID, lockedOutBy new: TenantPolicy, since former: TenantPolicy, limit: Int,
        on connection: Connection
    ) throws -> (accounts: [AccountID], count: Int64) {
        let removed = Set(former.providers.keys).subtracting(new.providers.keys)
        let result = try connection.query(
            lockedOut,
            [
                .text(tenant.description), .names(removed), .names(new.providers.keys),
                NumberLoad.providers(of: new), .int8(Int64(limit)),
            ])
        return try listed(result)
    }

    /// Returns some of the accounts with a passkey as a second factor whose domain rules lose, in the order of their
    /// ids, and their number: after a merge, the survivor.
    package static func accounts(
        of tenant: TenantID, losingFactorsBy new: TenantPolicy, since former: TenantPolicy,
        limit: Int, on connection: Connection
    ) throws -> (accounts: [AccountID], count: Int64) {
        let lost = new.lostFactorDomains(since: [former])
        guard !lost.isEmpty else { return ([], 0) }
        return try listed(
            try connection.query(
                losingFactors,
                [.text(tenant.description), .texts(lost.sorted()), .int8(Int64(limit))]))
    }

    private static func listed(
        _ result: QueryResult
    ) throws -> (accounts: [AccountID], count: Int64) {
        let accounts = try (0..<result.rowCount).map {
            AccountID(bits: try result.uuid($0, result.column("account_id")))
        }
        return (accounts, accounts.isEmpty ? 0 : try result.int8(0, result.column("count")))
    }
}
