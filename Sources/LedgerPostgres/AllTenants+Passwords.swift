import Postgres

extension AllTenants {
    /// A page of the rows of all passwords, ordered by tenant and identity.
    static let storedPasswords = Statement(
        "stored_passwords_page",
        """
        SELECT \(StoredPasswords.list.sql) FROM credentials t
        WHERE (t.tenant_id, t.identity_id) > ($1::text, $2::uuid)
        ORDER BY t.tenant_id, t.identity_id LIMIT 1000
        """)
}
