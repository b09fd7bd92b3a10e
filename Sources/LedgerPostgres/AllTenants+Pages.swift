import Postgres

extension AllTenants {
    /// Returns a statement for a page of all rows `t` of a table, ordered by tenant and id.
    static func everyPage(of table: String, _ list: SelectList, id: String) -> Statement {
        Statement(
            "every_page_\(table)",
            """
            SELECT \(list.sql) FROM \(table) t
            WHERE (t.tenant_id, t.\(id)) > ($1::text, $2::uuid)
            ORDER BY t.tenant_id, t.\(id) LIMIT 1000
            """)
    }
}
