import Testing

/// The statements over all tenants, and tenants that are being moved.
@Suite struct MovedTenantTests {
    /// The statements that find the rows of every tenant, each with the reason.
    private static let ofEveryTenant = [
        "tenant_moves": "reads the marks themselves",
        "tenants": "lists the tenants; work on them uses served_tenants",
        "opened_tenants": "reads which keys the logs name, which commands need of every tenant",
        "accepted_restores": "a tenant that arrives has the time of its former place",
        "sealer_held": "finds leases to release",
        "AllTenants+Names.verify_tenants_*": "verify leaves out the halves of tenants itself",
        "checkpointed_tenants": "finds the checkpoints of a table that is dropped for all tenants",
        "AllTenants.compare_sums_*":
            "only the sums of the tenants of exchange_standings are compared",
        "recorded_rules": "reads rules, which only a command changes",
        "recorded_rules_versions": "reads rules, which only a command changes",
        "erasures_pending": "an erasure that was begun here is completed here",
        "erasures_recent": "finds what a process has to forget",
        "wrapping_keys": "a key that any row names is not removed",
        "AllTenants.mac_key_use_*": "a key that any row names is not removed",
        "AllTenants+Pages.every_page_*": "a pepper that any password needs is not removed",
    ]

    @Test func `statements over all tenants leave moved ones out, but for listed exceptions`()
        throws
    {
        let files = try SourceTree(["Sources"]).files
            .filter { $0.name.hasPrefix(SQLRule.fileOfAllTenants) }
        let texts = SQLTexts(files).all
        #expect(texts.count > 30)
        let left = texts.filter { !$0.sql.contains("FROM tenant_moves m WHERE m.tenant_id = ") }
        let names = Set(left.map(\.name))
        let listed = Set(Self.ofEveryTenant.keys)
        #expect(names.subtracting(listed).sorted() == [], "not listed")
        #expect(listed.subtracting(names).sorted() == [], "listed, but no longer true")
    }
}
