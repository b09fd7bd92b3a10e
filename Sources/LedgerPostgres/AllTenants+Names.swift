package import Postgres

extension AllTenants {
    /// Returns a statement for every tenant that a table names, by one index probe for each; on Citus by a scan.
    package static func named(in table: String, on engine: DatabaseEngine) -> Statement {
        guard engine == .postgres else {
            return Statement(
                "verify_tenants_\(table)", "SELECT DISTINCT tenant_id FROM \(table)")
        }
        return Statement(
            "verify_tenants_\(table)",
            """
            WITH RECURSIVE t (tenant_id) AS (
                (SELECT tenant_id FROM \(table) ORDER BY tenant_id LIMIT 1)
                UNION ALL
                SELECT (SELECT n.tenant_id FROM \(table) n WHERE n.tenant_id > t.tenant_id
                    ORDER BY n.tenant_id LIMIT 1)
                FROM t WHERE t.tenant_id IS NOT NULL)
            SELECT tenant_id FROM t WHERE tenant_id IS NOT NULL
            """)
    }
}
